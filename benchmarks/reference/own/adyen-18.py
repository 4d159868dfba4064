# e25b3429511520c5
import json


def money_forms(cents):
    return [cents, cents / 100 if cents % 100 else cents // 100]


links = ("PL6B2F83A0E91D475C", "PLF4170C6D8B35E29A", "PL93DA5E07B2814C6F")
total = sum(GET_paymentLinks_linkId(linkId=link)["amount"]["value"] for link in links)
print(json.dumps({"number": money_forms(total)}))
