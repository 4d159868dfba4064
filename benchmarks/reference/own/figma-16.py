# 6bf984430b5a6a7a after
import json

settings = ("id", "event_type", "endpoint", "passcode", "status")
webhooks = GET_v2_webhooks()["webhooks"]
print(json.dumps([[webhook[name] for name in settings] for webhook in webhooks]))

# after
import json

settings = ("id", "event_type", "endpoint", "passcode", "status")
webhooks = GET_v2_webhooks()["webhooks"]
now = [[webhook[name] for name in settings] for webhook in webhooks]
wanted = [[*rest, "PAUSED" if rest[2] == "https://ci.papermoth.example/figma" else status] for *rest, status in before]
print(json.dumps({"state": sorted(now) == sorted(wanted) and now != before}))
