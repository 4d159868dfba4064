# 4fb7976afc4e30a8 after
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


project = id_of(GET_organization_projects(limit=100), "Copper Clerk")
alerts = GET_organization_projects_project_id_spend_alerts(project_id=project, limit=100)["data"]
print(json.dumps([alert["id"] for alert in alerts]))

# after
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


project = id_of(GET_organization_projects(limit=100), "Copper Clerk")
alerts = GET_organization_projects_project_id_spend_alerts(project_id=project, limit=100)["data"]
new = [alert for alert in alerts if alert["id"] not in before]
right = [(alert["threshold_amount"], alert["notification_channel"]["recipients"]) for alert in new]
wanted = [(75000, ["finance@brightfjord.example"])]
print(json.dumps({"state": right == wanted and len(alerts) == len(before) + 1}))
