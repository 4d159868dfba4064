# 78b5f7be8ed447fd
import json

company = GET_companies(name="Ostrava Glass")["data"][0]
names = []
for contact in GET_companies_company_id_contacts(company_id=company["id"])["data"]:
    linked = GET_contacts_contact_id_companies(contact_id=contact["id"])["data"]
    names += [entry["name"] for entry in linked if entry["id"] != company["id"]]
others = [entry["name"] for entry in GET_companies()["data"] if entry["name"] not in {*names, company["name"]}]
print(json.dumps({"all": sorted(set(names)), "others": others}))
