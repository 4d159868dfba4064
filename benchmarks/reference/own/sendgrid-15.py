# b9107d1c4ffaa698 after
import json

print(json.dumps([[entry["id"], entry["name"]] for entry in GET_marketing_lists()["result"]]))

# after
import json

now = {entry["id"]: entry["name"].casefold() for entry in GET_marketing_lists()["result"]}
wanted = {number: "media" if name == "Press Contacts" else name.casefold() for number, name in before}
print(json.dumps({"state": now == wanted}))
