# a4419dc8d8943073
import json

orders = GET_PurchaseOrders(xero_tenant_id="c27a9b14-6f38-4d51-8e02-90b3a5c7d16e")["PurchaseOrders"]
submitted = [order["PurchaseOrderNumber"] for order in orders if order["Status"] == "SUBMITTED"]
others = [order["PurchaseOrderNumber"] for order in orders if order["Status"] != "SUBMITTED"]
print(json.dumps({"all": submitted, "others": others}))
