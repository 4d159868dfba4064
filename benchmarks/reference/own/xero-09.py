# a7421648bc9112d2
import json

orders = GET_PurchaseOrders(xero_tenant_id="8d0f6c52-41b7-4e0a-9c35-2b7e61d4f083")["PurchaseOrders"]
total = sum(order["Total"] for order in orders if order["Status"] in ("DRAFT", "SUBMITTED"))
print(json.dumps({"all": [round(total, 2)]}))
