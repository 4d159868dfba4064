# 4fb69d3ee4f87deb
import json

groups = GET_asm_groups()
largest = max(groups, key=lambda group: group["unsubscribes"])
others = [group["name"] for group in groups if group is not largest]
print(json.dumps({"all": [largest["name"], largest["unsubscribes"]], "others": others}))
