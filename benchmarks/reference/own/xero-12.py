# 336d875f16f6c66d
import json

identifiers = [
    "b9dbf29f-1322-5bbf-a3f0-783ba4ac1e9c",
    "0419f504-8530-5ef7-a7e6-6b32b45129d9",
    "50790970-337c-5f7e-9a3a-6bbdcba67681",
]
contacts = {
    contact["ContactID"]: contact["EmailAddress"]
    for contact in GET_Contacts(xero_tenant_id="17b6e8c3-0d5f-4a92-a4e7-f6215d9b830c")["Contacts"]
}
others = [address for identifier, address in contacts.items() if identifier not in identifiers]
print(json.dumps({"all": [contacts[identifier] for identifier in identifiers], "others": others}))
