# dee2dcfb1d0dfc10
import json

identifiers = [
    "78691ba6-0c02-5211-906d-0ca20c6e58c6",
    "8d303890-b281-51df-a990-830548df905b",
    "f8cf2051-4d4a-5b61-8eae-4552a483bf37",
]
orders = {
    order["PurchaseOrderID"]: order
    for order in GET_PurchaseOrders(xero_tenant_id="8d0f6c52-41b7-4e0a-9c35-2b7e61d4f083")["PurchaseOrders"]
}
biggest = max((orders[identifier] for identifier in identifiers), key=lambda order: order["Total"])
names = [biggest["PurchaseOrderID"], biggest["PurchaseOrderNumber"], biggest["Total"]]
print(json.dumps({"all": [names, biggest["AttentionTo"]]}))
