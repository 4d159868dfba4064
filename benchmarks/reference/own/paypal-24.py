# f13673921eadcf96
import json

used = [
    GET_v2_invoicing_invoices_invoice_id(invoice_id=name)["configuration"]["template_id"]
    for name in ("INV2-DX5R-8VKA-Y3NQ-27FM", "INV2-C8XE-9TLU-K5HM-V3JD")
]
templates = [GET_v2_invoicing_templates_template_id(template_id=template_id) for template_id in used]
least = [
    float(template["template_info"]["configuration"]["partial_payment"]["minimum_amount_due"]["value"])
    for template in templates
]
smaller = templates[least.index(min(least))]
print(json.dumps({"all": [[smaller["name"], smaller["id"]], min(least)]}))
