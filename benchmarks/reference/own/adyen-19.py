# 7316c2f06e56b2f7
import json

NAMES = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October"]
NAMES += ["November", "December"]


def expiry_forms(card):
    month, year = int(card["expiryMonth"]), card["expiryYear"][-2:]
    numbers = [f"{month:02}", str(month)]
    forms = [f"{number}{mark}{full}" for number in numbers for mark in "/-. " for full in (year, "20" + year)]
    forms += [f"20{year}{mark}{number}" for number in numbers for mark in "/-. "]
    last_day = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    forms += [f"{name} 20{year}" for name in (NAMES[month - 1], NAMES[month - 1][:3])]
    return [*forms, f"20{year}-{month:02}-{last_day}", f"20{year}-{month:02}-01"]


cards = {}
for shopper in ("puu-301", "puu-302", "puu-303"):
    stored = GET_storedPaymentMethods(shopperReference=shopper, merchantAccount="Puukauppa_FI")
    cards[shopper] = stored["storedPaymentMethods"][0]
first = min(cards, key=lambda shopper: (cards[shopper]["expiryYear"], cards[shopper]["expiryMonth"]))
owner = [first, cards[first]["holderName"], cards[first]["shopperEmail"]]
print(json.dumps({"all": [owner, expiry_forms(cards[first])]}))
