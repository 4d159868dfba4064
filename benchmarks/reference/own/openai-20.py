# c52063b3a4713462
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


project = id_of(GET_organization_projects(limit=100), "Orchard Lab")
listed = GET_organization_projects_project_id_certificates(project_id=project, limit=100)["data"]
held = {certificate["id"]: certificate["name"] for certificate in listed}
certificates = GET_organization_certificates(limit=100)["data"]
missing = [[certificate["name"], certificate["id"]] for certificate in certificates if certificate["id"] not in held]
print(json.dumps({"all": missing, "others": sorted(held.values())} if missing else {"empty": True}))
