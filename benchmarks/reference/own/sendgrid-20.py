# ed3397b7c7df9eeb
import json

rules = GET_access_settings_whitelist()["result"]
newest = max(rules, key=lambda rule: rule["created_at"])
others = [rule["ip"].split("/")[0] for rule in rules if rule is not newest]
print(json.dumps({"all": [newest["ip"].split("/")[0]], "others": others}))
