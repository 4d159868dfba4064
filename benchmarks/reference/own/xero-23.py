# bf4563888c30284b after
import json

items = GET_Items(xero_tenant_id="e5134fd0-92ac-47b8-b6d1-3f08c94a27e5")["Items"]
print(json.dumps({item["ItemID"]: [item["SalesDetails"]["UnitPrice"], item["QuantityOnHand"]] for item in items}))

# after
import json

dearest = max(before, key=lambda key: before[key][0])
gone = {dearest} if before[dearest][1] < 20 else set()
now = {item["ItemID"] for item in GET_Items(xero_tenant_id="e5134fd0-92ac-47b8-b6d1-3f08c94a27e5")["Items"]}
print(json.dumps({"state": now == set(before) - gone}))
