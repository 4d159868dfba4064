# fef514ac4ad66958
import json
from datetime import UTC, datetime

ends = []
for integration in GET_sso_integrations():
    if integration["name"] in ("Azure Login", "OneLogin Staff"):
        certificates = GET_sso_integrations_integration_id_certificates(integration_id=integration["id"])
        ends += [(certificate["not_after"], integration["name"]) for certificate in certificates]
moment, name = min(ends)
day = datetime.fromtimestamp(moment, UTC)
days = [moment, day.strftime("%Y-%m-%d"), day.strftime("%m/%d/%Y"), day.strftime("%d/%m/%Y")]
print(json.dumps({"all": [name, days]}))
