# cc14052c10b4391e
import json

invoices = GET_v2_invoicing_invoices(page_size=100)["items"]
print(
    json.dumps(
        {"number": sum(invoice["configuration"]["partial_payment"]["allow_partial_payment"] for invoice in invoices)}
    )
)
