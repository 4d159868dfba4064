# f77aabe77ae5356a after
import json

print(json.dumps({webhook["id"]: webhook["endpoint"] for webhook in GET_v2_webhooks()["webhooks"]}))

# after
import json

now = {webhook["id"] for webhook in GET_v2_webhooks()["webhooks"]}
wanted = {webhook for webhook, endpoint in before.items() if endpoint != "https://old.papermoth.example/relay"}
print(json.dumps({"state": now == wanted and len(wanted) == len(before) - 2}))
