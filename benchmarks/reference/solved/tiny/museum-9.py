found = GET_exhibitions(q="Light on Water")["exhibitions"][0]
tickets = GET_exhibitions_exhibition_id_tickets(exhibition_id=found["exhibition_id"])["tickets"]
DELETE_tickets_ticket_id(ticket_id=tickets[0]["ticket_id"])
print("done")
