# f2d5c409bf6ca1d4
import json

numbers = ["90211", "90212", "90213", "90214", "90216"]
tickets = [GET_tickets_ticket_id(ticket_id=number) for number in numbers]
waiting = sum(ticket["ticket_state"] == "waiting_on_customer" for ticket in tickets)
words = {0: "none", 1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
print(json.dumps({"all": [[waiting, words[waiting]]]}))
