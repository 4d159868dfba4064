# 778da0a2b507f41b
import json

documents = [
    *GET_Quotes(xero_tenant_id="c27a9b14-6f38-4d51-8e02-90b3a5c7d16e")["Quotes"],
    *GET_PurchaseOrders(xero_tenant_id="c27a9b14-6f38-4d51-8e02-90b3a5c7d16e")["PurchaseOrders"],
    *GET_Invoices(xero_tenant_id="c27a9b14-6f38-4d51-8e02-90b3a5c7d16e")["Invoices"],
]
print(json.dumps({"number": sum(document["Status"] == "DRAFT" for document in documents)}))
