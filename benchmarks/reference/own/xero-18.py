# c6295aac681d1cad after
import json

categories = GET_TrackingCategories(xero_tenant_id="8d0f6c52-41b7-4e0a-9c35-2b7e61d4f083")["TrackingCategories"]
print(json.dumps({category["TrackingCategoryID"]: category["Name"] for category in categories}))

# after
import json

categories = GET_TrackingCategories(xero_tenant_id="8d0f6c52-41b7-4e0a-9c35-2b7e61d4f083")["TrackingCategories"]
now = {category["TrackingCategoryID"]: category["Name"] for category in categories}
wanted = "84d628c7-db83-5948-813d-fa8ebf2aa7c3"
print(json.dumps({"state": wanted in before and now == {**before, wanted: "Warehouse"}}))
