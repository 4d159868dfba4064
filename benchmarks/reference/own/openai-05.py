# a33d5be0f47f29fa
import json

invites = GET_organization_invites(limit=100)["data"]
mine = [invite for invite in invites if invite["email"] == "noor.albers@brightfjord.example"]
print(json.dumps({"yes": any(invite["status"] == "accepted" for invite in mine)}))
