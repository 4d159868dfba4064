# 3b6dcc2c5c40c441 after
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


project = id_of(GET_organization_projects(limit=100), "Granite Path")
accounts = GET_organization_projects_project_id_service_accounts(project_id=project, limit=100)["data"]
print(json.dumps([account["id"] for account in accounts]))

# after
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


project = id_of(GET_organization_projects(limit=100), "Granite Path")
accounts = GET_organization_projects_project_id_service_accounts(project_id=project, limit=100)["data"]
new = [account["name"] for account in accounts if account["id"] not in before]
print(json.dumps({"state": new == ["pager-bot"] and len(accounts) == len(before) + 1}))
