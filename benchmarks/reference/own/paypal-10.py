# 2ed83625096d5467
import json

invoices = [
    GET_v2_invoicing_invoices_invoice_id(invoice_id=name)
    for name in ("INV2-ZM8F-K3JT-R7UD-64HC", "INV2-3HNV-Q8ZC-55YE-KRTU")
]
first = min(invoices, key=lambda invoice: invoice["detail"]["payment_term"]["due_date"])
labels = [first["id"], first["detail"]["invoice_number"]]
print(json.dumps({"all": [labels, first["detail"]["payment_term"]["due_date"]]}))
