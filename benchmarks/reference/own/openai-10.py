# 376b38d7ee0749b7
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


project = id_of(GET_organization_projects(limit=100), "Tidal Forms")
members = GET_organization_projects_project_id_users(project_id=project, limit=100)["data"]
names = [member["name"] for member in members]
others = [user["name"] for user in GET_organization_users(limit=100)["data"] if user["name"] not in names]
print(json.dumps({"all": names, "others": others}))
