# 53fd0d60f7bd14cf after
import json

print(json.dumps([invoice["id"] for invoice in GET_v2_invoicing_invoices(page_size=100)["items"]]))

# after
import json

old = GET_v2_invoicing_invoices_invoice_id(invoice_id="INV2-J6TB-X5LN-W8FA-2QGE")
new = [invoice for invoice in GET_v2_invoicing_invoices(page_size=100)["items"] if invoice["id"] not in before]
right = len(new) == 1
if right:
    lines = [
        [(line["name"], float(line["quantity"]), float(line["unit_amount"]["value"])) for line in invoice["items"]]
        for invoice in (old, new[0])
    ]
    billed = [recipient["billing_info"].get("email_address") for recipient in new[0]["primary_recipients"]]
    right = sorted(lines[0]) == sorted(lines[1]) and billed == ["hanne.brodersen@klanghof.example"]
    right = right and new[0]["detail"]["currency_code"] == old["detail"]["currency_code"]
print(json.dumps({"state": right}))
