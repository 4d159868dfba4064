# d069fec6b3604006 after
import json

print(json.dumps([[design["id"], design["updated_at"]] for design in GET_designs()["result"]]))

# after
import json

now = {design["id"] for design in GET_designs()["result"]}
kept = {number for number, changed in before if changed >= "2024"}
print(json.dumps({"state": now == kept and len(kept) < len(before)}))
