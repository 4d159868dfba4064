# a878434c825d6757
import json

ticket = GET_tickets_ticket_id(ticket_id="90215")
contact = GET_contacts_contact_id(contact_id=ticket["contacts"]["contacts"][0]["id"])
print(json.dumps({"all": [contact["email"]]}))
