# 9f1149b9b10d2247 after
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


group = id_of(GET_organization_groups(), "Pricing Team")
print(json.dumps([member["id"] for member in GET_organization_groups_group_id_users(group_id=group)["data"]]))

# after
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


user = id_of(GET_organization_users(limit=100), "Hanne Vestby")
group = id_of(GET_organization_groups(), "Pricing Team")
now = [member["id"] for member in GET_organization_groups_group_id_users(group_id=group)["data"]]
print(json.dumps({"state": user not in before and sorted(now) == sorted([*before, user])}))
