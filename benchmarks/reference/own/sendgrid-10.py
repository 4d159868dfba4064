# 550ef3f733e3ed73 after
import json

print(json.dumps([template["id"] for template in GET_templates(page_size=200)["result"]]))

# after
import json

now = GET_templates(page_size=200)["result"]
new = [template for template in now if template["id"] not in before]
right = len(new) == 1 and len(now) == len(before) + 1
right = right and new[0]["name"].casefold() == "gift receipt" and new[0]["generation"] == "dynamic"
print(json.dumps({"state": right}))
