# be2e32c44df77c23 after
import json

print(json.dumps({pool["name"]: pool for pool in GET_api_v2_pools()["pools"]}))

# after
import json

slots = {pool["name"]: pool["slots"] for pool in GET_api_v2_pools()["pools"]}
busiest = max(before, key=lambda name: before[name]["queued_slots"])
expected = {name: pool["slots"] + 4 * (name == busiest) for name, pool in before.items()}
print(json.dumps({"state": slots == expected}))
