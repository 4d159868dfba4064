# f905107a522bd60b
import json

campaign = next(entry for entry in GET_campaigns()["result"] if entry["title"] == "Referral Bonus")
sender = GET_senders_sender_id(sender_id=campaign["sender_id"])
no = ["no", "not", "isn't", "hasn't", "wasn't", "unverified", "false"]
yes = ["yes", "is verified", "has been verified", "true", "verified"]
print(json.dumps({"all": [yes if sender["verified"] else no, sender["city"]]}))
