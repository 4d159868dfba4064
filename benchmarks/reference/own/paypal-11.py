# 95d4ef2b37ccdd26
import json

default = next(
    template["id"]
    for template in GET_v2_invoicing_templates(page_size=100)["templates"]
    if template["default_template"]
)
invoices = GET_v2_invoicing_invoices(page_size=100)["items"]
print(json.dumps({"number": sum(invoice["configuration"]["template_id"] == default for invoice in invoices)}))
