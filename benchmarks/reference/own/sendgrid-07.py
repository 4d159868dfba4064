# 3c843d66f697241d after
import json

print(json.dumps([alert["id"] for alert in GET_alerts()]))

# after
import json

now = GET_alerts()
new = [alert for alert in now if alert["id"] not in before]
wanted = [
    alert
    for alert in new
    if (alert["type"], alert["email_to"], alert["percentage"]) == ("usage_limit", "dispatch@quarryline.com", 85)
]
print(json.dumps({"state": len(new) == len(wanted) == 1 and len(now) == len(before) + 1}))
