# 38cd856fe2632b60
import json

names = []
for name in ("INV2-X2DL-7QUT-G5VA-R8NE", "INV2-3HNV-Q8ZC-55YE-KRTU", "INV2-ZM8F-K3JT-R7UD-64HC"):
    template_id = GET_v2_invoicing_invoices_invoice_id(invoice_id=name)["configuration"]["template_id"]
    names.append(GET_v2_invoicing_templates_template_id(template_id=template_id)["name"])
used = {invoice["configuration"]["template_id"] for invoice in GET_v2_invoicing_invoices(page_size=100)["items"]}
templates = [GET_v2_invoicing_templates_template_id(template_id=template_id) for template_id in sorted(used)]
others = [template["name"] for template in templates if template["name"] not in names]
print(json.dumps({"all": names, "others": others * 2}))
