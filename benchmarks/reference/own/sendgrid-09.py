# c69cdf78473b886b
import json

campaign = next(entry for entry in GET_campaigns()["result"] if entry["title"] == "Back to School")
groups = GET_asm_groups()
used = next(group for group in groups if group["id"] == campaign["suppression_group_id"])
others = [group["description"] for group in groups if group is not used]
print(json.dumps({"all": [used["description"]], "others": others}))
