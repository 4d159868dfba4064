# c57976a4e3777cef after
import json

links = ("PL17C4E8B6F0593AD2", "PLAF3692D0E5C71B84", "PL60D8A1F7B4E92C35", "PLC80B57E29D6F43A1")
bodies = {link: GET_paymentLinks_linkId(linkId=link) for link in links}
print(json.dumps({link: [body["amount"]["value"], body["status"]] for link, body in bodies.items()}))

# after
import json

highest = max(before, key=lambda link: before[link][0])
now = {link: GET_paymentLinks_linkId(linkId=link)["status"] for link in before}
wanted = {link: "expired" if link == highest else status for link, (value, status) in before.items()}
print(json.dumps({"state": now == wanted and before[highest][1] == "active"}))
