# 674097596a0bd3c0 after
import json

print(
    json.dumps(
        [company["id"] for company in GET_contacts_contact_id_companies(contact_id="d5d6aa9c545d223c8a701b6e")["data"]]
    )
)

# after
import json

wanted = GET_companies(name="Basalt Robotics")["data"][0]["id"]
now = [company["id"] for company in GET_contacts_contact_id_companies(contact_id="d5d6aa9c545d223c8a701b6e")["data"]]
print(json.dumps({"state": wanted not in before and sorted(now) == sorted([*before, wanted])}))
