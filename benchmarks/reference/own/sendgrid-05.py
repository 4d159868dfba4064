# 12a8b673606745e1
import json

sends = {entry["name"]: entry["id"] for entry in GET_marketing_singlesends()["result"]}
details = [GET_marketing_singlesends_id(id=sends[name]) for name in ("Store Opening", "Holiday Hours")]
used = {detail["email_config"]["design_id"] for detail in details}
names = [GET_designs_id(id=number)["name"] for number in used]
words = ["yes", "true", "same", "both", "share", "identical"] if len(used) == 1 else ["no", "not", "different", "false"]
print(json.dumps({"all": [words, *(names if len(used) == 1 else [])]}))
