# aacf06a2cc6404d5 after
import json

print(json.dumps([invoice["id"] for invoice in GET_v2_invoicing_invoices(page_size=100)["items"]]))

# after
import json

draft = "INV2-L3JY-5PGV-B8QT-4WES"
now = [invoice["id"] for invoice in GET_v2_invoicing_invoices(page_size=100)["items"]]
print(json.dumps({"state": draft in before and now == [name for name in before if name != draft]}))
