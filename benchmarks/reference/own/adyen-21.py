# aa0ea3f32d94cd34 after
import json
from itertools import product

stored = GET_storedPaymentMethods(shopperReference="socio-8820", merchantAccount="ClubeRibeira_PT")
cards = [[card["id"], card["lastFour"]] for card in stored["storedPaymentMethods"]]
new_ids = []
for month, year, brand, kind, model in product(
    ("04", "4"),
    ("2029", "29"),
    ({}, {"brand": "mc"}, {"brand": "mastercard"}),
    ({}, {"type": "scheme"}, {"type": "card"}),
    ("Subscription",),
):
    card = {"number": "5309114200876614", "expiryMonth": month, "expiryYear": year, "holderName": "Jorge Pinto"}
    created = POST_storedPaymentMethods(
        merchantAccount="ClubeRibeira_PT",
        shopperReference="socio-8820",
        recurringProcessingModel=model,
        paymentMethod={**card, **brand, **kind},
    )
    new_ids.append(created["id"])
print(json.dumps({"cards": cards, "new_ids": new_ids}))

# after
import json

stored = GET_storedPaymentMethods(shopperReference="socio-8820", merchantAccount="ClubeRibeira_PT")
now = [card["id"] for card in stored["storedPaymentMethods"]]
kept = [identifier for identifier, digits in before["cards"] if digits != "0381"]
new = [identifier for identifier in now if identifier not in kept]
swapped = len(now) == len(before["cards"]) == len(kept) + 1 and set(kept) <= set(now)
print(json.dumps({"state": swapped and len(new) == 1 and new[0] in before["new_ids"]}))
