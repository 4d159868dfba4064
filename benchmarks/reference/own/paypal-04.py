# 89584430db612acb
import json

invoice = GET_v2_invoicing_invoices_invoice_id(invoice_id="INV2-M4HZ-Y8FR-J6XC-9BVK")
print(json.dumps({"all": [float(invoice["due_amount"]["value"])]}))
