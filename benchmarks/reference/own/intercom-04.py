# 1a9e1c7645bf20bd
import json

types = GET_subscription_types()["data"]
print(json.dumps({"number": sum(entry["consent_type"] == "opt_in" for entry in types)}))
