# 9960fa23ce181d09 after
import json

print(json.dumps([tag["id"] for tag in GET_tags()["data"]]))

# after
import json

tags = GET_tags()["data"]
new = [tag["name"].lower() for tag in tags if tag["id"] not in before]
print(json.dumps({"state": new == ["autumn pilot"] and len(tags) == len(before) + 1}))
