# abc01cac75fabbef
import json

cards = []
for name in ("PL3F05A9D7C8E2614B", "PL9E61B40F2D7A58C3"):
    link = GET_paymentLinks_linkId(linkId=name)
    stored = GET_storedPaymentMethods(
        shopperReference=link["shopperReference"], merchantAccount=link["merchantAccount"]
    )
    cards += stored["storedPaymentMethods"]
last = max(cards, key=lambda card: (card["expiryYear"], card["expiryMonth"]))
print(json.dumps({"all": [[last["brand"], last["name"]], last["lastFour"]]}))
