# 931bbd475a02f5a9 after
import json

print(json.dumps([[key["api_key_id"], key["name"]] for key in GET_api_keys()["result"]]))

# after
import json

now = {key["api_key_id"] for key in GET_api_keys()["result"]}
kept = {number for number, name in before if name != "Nightly Export"}
print(json.dumps({"state": now == kept and len(kept) < len(before)}))
