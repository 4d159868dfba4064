# f164c618f7f8cf1b
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


group = id_of(GET_organization_groups(), "Growth Circle")
members = GET_organization_groups_group_id_users(group_id=group)["data"]
print(json.dumps({"yes": any(member["name"] == "Teo Castellan" for member in members)}))
