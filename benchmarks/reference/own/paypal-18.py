# 48423fc3dbe09ec8
import json

names = ("INV2-C8XE-9TLU-K5HM-V3JD", "INV2-7KQD-M2XR-94TA-VLWB", "INV2-5GCE-V9QX-L2BW-N8KT")
invoices = [GET_v2_invoicing_invoices_invoice_id(invoice_id=name) for name in names]
last = max(invoices, key=lambda invoice: invoice["detail"]["metadata"]["last_sent_time"])
customers = [invoice["primary_recipients"][0]["billing_info"] for invoice in invoices if invoice != last]
who = last["primary_recipients"][0]["billing_info"]
labels = [last["id"], last["detail"]["invoice_number"]]
claim = {"all": [labels, [who["business_name"], who["name"]["full_name"]]]}
print(json.dumps({**claim, "others": [customer["business_name"] for customer in customers] * 2}))
