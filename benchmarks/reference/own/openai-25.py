# 49c4e7b944bbd3f1 after
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


groups = GET_organization_groups()
members = {}
for name in ("Release Crew", "Night Shift"):
    listed = GET_organization_groups_group_id_users(group_id=id_of(groups, name))["data"]
    members[name] = [member["id"] for member in listed]
print(json.dumps(members))

# after
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


groups = GET_organization_groups()
members = {}
for name in ("Release Crew", "Night Shift"):
    listed = GET_organization_groups_group_id_users(group_id=id_of(groups, name))["data"]
    members[name] = [member["id"] for member in listed]
user = id_of(GET_organization_users(limit=100), "Owen Pritchard")
fewer = len(before["Release Crew"]) < len(before["Night Shift"])
target, other = ("Release Crew", "Night Shift") if fewer else ("Night Shift", "Release Crew")
added = user not in before[target] and sorted(members[target]) == sorted([*before[target], user])
print(json.dumps({"state": added and members[other] == before[other]}))
