# 3fc6a70730fbf079
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


project = id_of(GET_organization_projects(limit=100), "Harbor Desk")
accounts = GET_organization_projects_project_id_service_accounts(project_id=project, limit=100)["data"]
print(json.dumps({"number": len(accounts)}))
