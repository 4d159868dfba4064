# cfa10f17fd1f4eab
import json

notes = GET_contacts_contact_id_notes(contact_id="73b2ca23b5b402b80a45119c")["data"]
negative = [0, "zero", "no", "none", "not", "nothing", "nobody", "false", "aren't", "hasn't", "[]"]
print(json.dumps({"yes": True} if notes else {"all": [negative]}))
