# 69a58bd9f9f09c97
import json

certificates = GET_organization_certificates(limit=100)["data"]
off = [certificate for certificate in certificates if not certificate["active"]]
others = [certificate["name"] for certificate in certificates if certificate["active"]]
print(json.dumps({"all": [[certificate["name"], certificate["id"]] for certificate in off], "others": others}))
