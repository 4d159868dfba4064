# b2ab411ca20903ee after
import json

number = POST_v2_invoicing_generate_next_invoice_number()["invoice_number"]
print(json.dumps([number, [invoice["id"] for invoice in GET_v2_invoicing_invoices(page_size=100)["items"]]]))

# after
import json

number, there = before
new = [invoice for invoice in GET_v2_invoicing_invoices(page_size=100)["items"] if invoice["id"] not in there]
right = len(new) == 1 and len(new[0]["items"]) == 1
if right:
    detail, line = new[0]["detail"], new[0]["items"][0]
    billed = [recipient["billing_info"].get("email_address") for recipient in new[0]["primary_recipients"]]
    right = billed == ["pedro.vilanova@riverbikes.example"] and "brake pad" in line["name"].lower()
    right = right and float(line["quantity"]) == 3 and float(line["unit_amount"]["value"]) == 18.4
    right = right and detail.get("invoice_number") == number and detail["currency_code"] == "USD"
print(json.dumps({"state": right}))
