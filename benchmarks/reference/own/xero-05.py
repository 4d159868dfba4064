# 2b0fc5e9596de2d5
import json

quotes = GET_Quotes(xero_tenant_id="e5134fd0-92ac-47b8-b6d1-3f08c94a27e5")["Quotes"]
may = [quote for quote in quotes if quote["DateString"].startswith("2024-05")]
negative = [0, "zero", "no", "none", "not", "nothing", "never", "false", "weren't", "wasn't", "[]"]
print(json.dumps({"yes": True} if any(quote["Status"] == "DECLINED" for quote in may) else {"all": [negative]}))
