# 60246a7822d8eede after
import json

items = GET_Items(xero_tenant_id="c27a9b14-6f38-4d51-8e02-90b3a5c7d16e")["Items"]
print(json.dumps({item["ItemID"]: item["SalesDetails"]["UnitPrice"] for item in items}))

# after
import json

cheapest = min(before, key=lambda key: before[key])
now = {item["ItemID"] for item in GET_Items(xero_tenant_id="c27a9b14-6f38-4d51-8e02-90b3a5c7d16e")["Items"]}
print(json.dumps({"state": now == set(before) - {cheapest}}))
