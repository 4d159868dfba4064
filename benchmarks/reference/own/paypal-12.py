# ce1ae5c1219e0d42
import json

used = {invoice["configuration"]["template_id"] for invoice in GET_v2_invoicing_invoices(page_size=100)["items"]}
templates = GET_v2_invoicing_templates(page_size=100)["templates"]
unused = [template["name"] for template in templates if template["id"] not in used]
others = [template["name"] for template in templates if template["id"] in used]
print(json.dumps({"all": unused, "others": others} if unused else {"empty": True}))
