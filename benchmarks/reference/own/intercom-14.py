# bb21257d83d5dd59
import json

company = GET_companies(name="Marrow & Finch")["data"][0]
contacts = GET_companies_company_id_contacts(company_id=company["id"])["data"]
latest = max(contacts, key=lambda contact: contact["last_seen_at"])
owner = GET_admins_admin_id(admin_id=latest["owner_id"])
print(json.dumps({"all": [latest["name"], owner["name"]]}))
