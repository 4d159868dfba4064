# 25a1959985babc26
import json

names = ("INV2-BT2Y-L6WH-9CEP-Q4XD", "INV2-Q7FD-2RWA-M6NX-T9KC", "INV2-ZM8F-K3JT-R7UD-64HC")
taxes = [
    GET_v2_invoicing_invoices_invoice_id(invoice_id=name)["amount"]["breakdown"]["tax_total"]["value"] for name in names
]
print(json.dumps({"all": [round(sum(map(float, taxes)), 2)]}))
