# ca25e6ea1d150695
import json

links = ("PL4AD8F2601E7BC953", "PLB7521E94C06DFA38", "PL0C93F6D5A2481EB7", "PLD26A84E1B39F705C", "PL85BE7C3D0F64A129")
statuses = [GET_paymentLinks_linkId(linkId=link)["status"] for link in links]
print(json.dumps({"number": statuses.count("active")}))
