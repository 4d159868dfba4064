# ccab2dbe848e8336
import json

quotes = GET_Quotes(xero_tenant_id="8d0f6c52-41b7-4e0a-9c35-2b7e61d4f083")["Quotes"]
march = [quote for quote in quotes if quote["DateString"].startswith("2024-03")]
best = max(march, key=lambda quote: quote["Total"])
others = [quote["QuoteNumber"] for quote in quotes if quote["QuoteNumber"] != best["QuoteNumber"]]
print(json.dumps({"all": [[best["QuoteNumber"], best["Title"]], best["Total"]], "others": others}))
