# ad1aca93af20729d
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


projects = GET_organization_projects(limit=100)
first, second = (
    {
        user["name"]
        for user in GET_organization_projects_project_id_users(project_id=id_of(projects, name), limit=100)["data"]
    }
    for name in ("Meadow Index", "Cedar Voices")
)
print(
    json.dumps({"all": sorted(first & second), "others": sorted(first ^ second)} if first & second else {"empty": True})
)
