# fb2cf24b864084f0
import json


def money_forms(cents):
    return [cents, cents / 100 if cents % 100 else cents // 100]


first, second = (
    GET_paymentLinks_linkId(linkId=link)["amount"]["value"] for link in ("PL2E96F04CD718A35B", "PLA80B3D5E6492C71F")
)
print(json.dumps({"number": money_forms(first - second)}))
