# 3e9bc5dfc3c339cc after
import json

templates = GET_v2_invoicing_templates(page_size=100)["templates"]
print(
    json.dumps(
        [
            [template["id"], template["template_info"]["configuration"]["partial_payment"]["allow_partial_payment"]]
            for template in templates
        ]
    )
)

# after
import json

kept = [name for name, in_part in before if in_part]
now = [template["id"] for template in GET_v2_invoicing_templates(page_size=100)["templates"]]
print(json.dumps({"state": 0 < len(kept) < len(before) and sorted(now) == sorted(kept)}))
