# 6fe558778f7cd524
import json

billed = [
    invoice["primary_recipients"][0]["billing_info"] for invoice in GET_v2_invoicing_invoices(page_size=100)["items"]
]
names = [[who["business_name"], who["name"]["full_name"]] for who in billed if who["language"] == "fr"]
others = [who["business_name"] for who in billed if who["language"] != "fr"]
print(json.dumps({"all": names, "others": others}))
