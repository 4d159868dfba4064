# 81a14fdabffc836b after
import json

print(json.dumps([invite["id"] for invite in GET_organization_invites(limit=100)["data"]]))

# after
import json

invites = GET_organization_invites(limit=100)["data"]
new = [(invite["email"], invite["role"]) for invite in invites if invite["id"] not in before]
right = new == [("kasper.holm@brightfjord.example", "reader")]
print(json.dumps({"state": right and len(invites) == len(before) + 1}))
