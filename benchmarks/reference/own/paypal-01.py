# 8e094ed7f5190c0a
import json

invoice = GET_v2_invoicing_invoices_invoice_id(invoice_id="INV2-BT2Y-L6WH-9CEP-Q4XD")
print(json.dumps({"all": [invoice["detail"]["payment_term"]["due_date"]]}))
