# 7f8f06fffc796940 after
import json

items = GET_Items(xero_tenant_id="8d0f6c52-41b7-4e0a-9c35-2b7e61d4f083")["Items"]
print(json.dumps({item["ItemID"]: item["IsTrackedAsInventory"] for item in items}))

# after
import json

now = {item["ItemID"] for item in GET_Items(xero_tenant_id="8d0f6c52-41b7-4e0a-9c35-2b7e61d4f083")["Items"]}
print(json.dumps({"state": now == {key for key, tracked in before.items() if tracked}}))
