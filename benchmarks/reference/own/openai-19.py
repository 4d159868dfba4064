# 29aa3d48020ac01f after
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


group = id_of(GET_organization_groups(), "Partner Success")
print(json.dumps([role["id"] for role in GET_organization_groups_group_id_roles(group_id=group)["data"]]))

# after
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


group = id_of(GET_organization_groups(), "Partner Success")
role = id_of(GET_organization_roles(), "Dataset Curator")
now = [held["id"] for held in GET_organization_groups_group_id_roles(group_id=group)["data"]]
print(json.dumps({"state": role not in before and sorted(now) == sorted([*before, role])}))
