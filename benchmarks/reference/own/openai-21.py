# 68a88bd72796d48c
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


groups = GET_organization_groups()
sizes = {
    name: len(GET_organization_groups_group_id_users(group_id=id_of(groups, name))["data"])
    for name in ("Incident Response", "Support Writers")
}
smaller, larger = sorted(sizes, key=lambda name: sizes[name])
assert sizes[smaller] < sizes[larger]
print(json.dumps({"any": [f"{larger} has more", larger], "others": [f"{smaller} has more"] * 4}))
