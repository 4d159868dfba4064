# dba999045fb0dea7 after
import json

found = GET_exhibitions(q="Light on Water")["exhibitions"][0]
tickets = GET_exhibitions_exhibition_id_tickets(exhibition_id=found["exhibition_id"])["tickets"]
print(json.dumps([ticket["ticket_id"] for ticket in tickets]))

# after
import json

found = GET_exhibitions(q="Light on Water")["exhibitions"][0]
tickets = GET_exhibitions_exhibition_id_tickets(exhibition_id=found["exhibition_id"])["tickets"]
print(json.dumps({"state": [ticket["ticket_id"] for ticket in tickets] == before[1:]}))
