# 89e6cf5c9ede820d after
import json

print(json.dumps([template["id"] for template in GET_v2_invoicing_templates(page_size=100)["templates"]]))

# after
import json

new = [template for template in GET_v2_invoicing_templates(page_size=100)["templates"] if template["id"] not in before]
right = len(new) == 1 and new[0]["name"].lower() == "garden care" and new[0].get("unit_of_measure") == "HOURS"
if right:
    detail = new[0]["template_info"]["detail"]
    right = detail["currency_code"] == "CAD" and detail.get("note", "").rstrip(".").lower() == "tools are included"
print(json.dumps({"state": right}))
