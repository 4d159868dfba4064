# 19815e3dafc400ef after
import json

paid = GET_v2_invoicing_invoices_invoice_id(invoice_id="INV2-R2VK-N4CQ-H7ZD-8YBP")["payments"]["transactions"]
print(json.dumps([payment["payment_id"] for payment in paid]))

# after
import json

paid = GET_v2_invoicing_invoices_invoice_id(invoice_id="INV2-R2VK-N4CQ-H7ZD-8YBP")["payments"]["transactions"]
new = [payment for payment in paid if payment["payment_id"] not in before]
right = len(new) == 1 and len(paid) == len(before) + 1
if right:
    amount = new[0]["amount"]
    right = float(amount["value"]) == 150 and amount["currency_code"] == "GBP"
    right = right and new[0]["method"] == "CASH" and new[0]["payment_date"][:10] == "2024-05-28"
print(json.dumps({"state": right}))
