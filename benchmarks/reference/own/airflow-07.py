# 816ec50492db3862 after
import json

listed = [[variable["key"], str(variable["value"])] for variable in GET_api_v2_variables()["variables"]]
rest = [entry for entry in listed if entry[0] != "refund_window_days"]
print(json.dumps({"rest": rest, "new": [entry for entry in listed if entry not in rest]}))

# after
import json

listed = [[variable["key"], str(variable["value"])] for variable in GET_api_v2_variables()["variables"]]
rest = [entry for entry in listed if entry[0] != "refund_window_days"]
new = [entry for entry in listed if entry[0] == "refund_window_days" and entry not in before["new"]]
print(json.dumps({"state": new == [["refund_window_days", "21"]] and rest == before["rest"]}))
