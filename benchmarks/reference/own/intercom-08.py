# 268a4b0ea2af334e
import json

first = GET_contacts_contact_id_companies(contact_id="9239f51ee34a8c018f94389e")["data"]
second = GET_contacts_contact_id_companies(contact_id="746d05ede0b7381408299642")["data"]
identifiers = {company["id"] for company in second}
shared = [company["name"] for company in first if company["id"] in identifiers]
print(json.dumps({"all": shared} if shared else {"yes": False}))
