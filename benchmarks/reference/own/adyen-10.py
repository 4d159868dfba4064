# 01b99e05107ad2cc
import json

link = GET_paymentLinks_linkId(linkId="PL51F7AC2880D94E36")
stored = GET_storedPaymentMethods(shopperReference=link["shopperReference"], merchantAccount=link["merchantAccount"])
everybody = GET_storedPaymentMethods(merchantAccount=link["merchantAccount"])["storedPaymentMethods"]
digits = [card["lastFour"] for card in stored["storedPaymentMethods"]]
others = [card["lastFour"] for card in everybody if card["lastFour"] not in digits]
print(json.dumps({"all": digits, "others": others}))
