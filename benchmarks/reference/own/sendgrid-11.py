# 574cd313d0be28d4 after
import json

print(json.dumps([[request["id"], request["username"]] for request in GET_scopes_requests()]))

# after
import json

now = {request["id"] for request in GET_scopes_requests()}
kept = {number for number, username in before if username != "paperclub"}
print(json.dumps({"state": now == kept and len(kept) < len(before)}))
