# cd176e59b31db27d after
import json

link = GET_paymentLinks_linkId(linkId="PLE1607B3F9C52D84A")
last = POST_orders()
same = all(last["amount"][name] == link["amount"][name] for name in ("currency", "value"))
print(json.dumps({"state": same and last["reference"] == "DESK-558-PARTS"}))
