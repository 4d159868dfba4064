# 969260dfe5c1ad43 after
import json

print(json.dumps([[alert["id"], alert["email_to"], alert["percentage"]] for alert in GET_alerts()]))

# after
import json

now = [[alert["id"], alert["email_to"], alert["percentage"]] for alert in GET_alerts()]
wanted = [
    [number, address, 70 if address == "tomas.ruiz@oakandiron.com" else percentage]
    for number, address, percentage in before
]
print(json.dumps({"state": now == wanted}))
