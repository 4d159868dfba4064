# 62d6d6dd9e6f33b1
import json

webhook = GET_v2_webhooks_webhook_id(webhook_id="660123")
words = {"ACTIVE": ["active", "running"], "PAUSED": ["paused", "not running"]}
status = words.pop(webhook["status"])
opposite = [word for entry in words.values() for word in entry if word != "running"]
print(json.dumps({"all": [webhook["endpoint"], status], "others": opposite * 4}))
