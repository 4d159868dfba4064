# d78f00ef67de89cd after
import json

print(json.dumps([note["id"] for note in GET_contacts_contact_id_notes(contact_id="f8c519badc371b5ed32429d7")["data"]]))

# after
import json

notes = GET_contacts_contact_id_notes(contact_id="f8c519badc371b5ed32429d7")["data"]
new = [note["body"].lower() for note in notes if note["id"] not in before]
right = len(new) == 1 and "renewal meeting" in new[0] and "12 june" in new[0]
print(json.dumps({"state": right and len(notes) == len(before) + 1}))
