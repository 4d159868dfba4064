# 8dfd7a3120d318cf after
import json

contact = GET_contacts_contact_id(contact_id="0fc791b29a24eb352e1a7030")
print(json.dumps([contact["email"], contact["name"]]))

# after
import json

contact = GET_contacts_contact_id(contact_id="0fc791b29a24eb352e1a7030")
digits = "".join(sign for sign in contact["phone"] if sign.isdecimal())
print(json.dumps({"state": digits == "442079460999" and [contact["email"], contact["name"]] == before}))
