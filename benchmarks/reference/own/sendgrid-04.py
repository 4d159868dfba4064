# ab629035b10382e8
import json

total = 0
for integration in GET_sso_integrations():
    total += len(GET_sso_integrations_integration_id_certificates(integration_id=integration["id"]))
print(json.dumps({"number": total}))
