# 70f4e427e6996e13
import json

names = (
    "INV2-T5NA-W2KC-Z9DH-7MLX",
    "INV2-BT2Y-L6WH-9CEP-Q4XD",
    "INV2-M4HZ-Y8FR-J6XC-9BVK",
    "INV2-X2DL-7QUT-G5VA-R8NE",
)
invoices = [GET_v2_invoicing_invoices_invoice_id(invoice_id=name) for name in names]
charges = [float(invoice["amount"]["breakdown"]["shipping"]["amount"]["value"]) for invoice in invoices]
highest = invoices[charges.index(max(charges))]
who = highest["primary_recipients"][0]["billing_info"]
labels = [highest["id"], highest["detail"]["invoice_number"], who["business_name"]]
others = [invoice["id"] for invoice in invoices if invoice != highest] * 2
print(json.dumps({"all": [labels, max(charges)], "others": others}))
