# 68f06afcb115c9a4
import json

invoices = GET_Invoices(xero_tenant_id="c27a9b14-6f38-4d51-8e02-90b3a5c7d16e")["Invoices"]
wanted = next(invoice for invoice in invoices if invoice["InvoiceID"] == "0f82642a-942e-5e34-9230-84bb83157039")
print(json.dumps({"all": [wanted["AmountDue"]]}))
