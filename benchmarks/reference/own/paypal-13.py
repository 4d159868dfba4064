# 2f8220dcf63de104
import json

names = ("INV2-7KQD-M2XR-94TA-VLWB", "INV2-X2DL-7QUT-G5VA-R8NE")
due = sum(float(GET_v2_invoicing_invoices_invoice_id(invoice_id=name)["due_amount"]["value"]) for name in names)
print(json.dumps({"all": [round(due, 2)]}))
