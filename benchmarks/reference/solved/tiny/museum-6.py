found = GET_exhibitions(q="Light on Water")["exhibitions"][0]
POST_exhibitions_exhibition_id_tickets(exhibition_id=found["exhibition_id"], day="2024-06-10", visitors=3)
print("done")
