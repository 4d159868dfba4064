# 3ad54ac297663bd7
import json

campaign = next(entry for entry in GET_campaigns()["result"] if entry["title"] == "Member Survey")
sender = GET_senders_sender_id(sender_id=campaign["sender_id"])
group = GET_asm_groups_group_id(group_id=campaign["suppression_group_id"])
names = [sender["nickname"], sender["from"]["name"]]
print(json.dumps({"all": [names, group["name"]]}))
