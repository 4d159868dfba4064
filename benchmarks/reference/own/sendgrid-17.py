# 01b2ad221d3a572e
import json

entry = next(item for item in GET_marketing_singlesends()["result"] if item["name"] == "Recipe Week")
print(json.dumps({"all": [GET_marketing_singlesends_id(id=entry["id"])["email_config"]["subject"]]}))
