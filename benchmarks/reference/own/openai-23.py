# 11bd99d91377c987
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


projects = GET_organization_projects(limit=100)
counts = {}
for name in ("Lighthouse", "Quill Review", "Paper Trail"):
    keys = GET_organization_projects_project_id_api_keys(project_id=id_of(projects, name), limit=100)["data"]
    counts[name] = len(keys)
most = max(counts, key=lambda name: counts[name])
assert sorted(counts.values())[-2] < counts[most]
others = [f"{name} has the most" for name in counts if name != most]
print(json.dumps({"all": [most, counts[most]], "others": others * 4}))
