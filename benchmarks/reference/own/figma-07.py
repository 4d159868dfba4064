# a2e9e6b6805a0058 after
import json

print(json.dumps([webhook["id"] for webhook in GET_v2_webhooks()["webhooks"]]))

# after
import json

now = [webhook["id"] for webhook in GET_v2_webhooks()["webhooks"]]
print(json.dumps({"state": "884201" in before and sorted(now) == sorted(set(before) - {"884201"})}))
