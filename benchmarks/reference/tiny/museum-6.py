# 88f37db3d08ba1e3 after
import json

found = GET_exhibitions(q="Light on Water")["exhibitions"][0]
print(json.dumps(GET_exhibitions_exhibition_id_tickets(exhibition_id=found["exhibition_id"])["tickets"]))

# after
import json

found = GET_exhibitions(q="Light on Water")["exhibitions"][0]
now = GET_exhibitions_exhibition_id_tickets(exhibition_id=found["exhibition_id"])["tickets"]
new = [(ticket["day"], ticket["visitors"]) for ticket in now if ticket not in before]
print(json.dumps({"state": new == [("2024-06-10", 3)] and len(now) == len(before) + 1}))
