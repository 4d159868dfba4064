# 6eb399535d234edb after
import json

stored = GET_storedPaymentMethods(shopperReference="czytelnik-615", merchantAccount="KsiegarniaLipa_PL")
print(json.dumps([[card["id"], card["lastFour"]] for card in stored["storedPaymentMethods"]]))

# after
import json

stored = GET_storedPaymentMethods(shopperReference="czytelnik-615", merchantAccount="KsiegarniaLipa_PL")
now = [card["id"] for card in stored["storedPaymentMethods"]]
kept = [identifier for identifier, digits in before if digits != "4417"]
print(json.dumps({"state": len(kept) == len(before) - 1 and now == kept}))
