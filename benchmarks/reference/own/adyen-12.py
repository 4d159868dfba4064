# 71a1d2bbda7c63ad
import json


def money_forms(cents):
    return [cents, cents / 100 if cents % 100 else cents // 100]


link = GET_paymentLinks_linkId(linkId="PL74CE2A19F8D0B653")
card = {"type": "givex", "number": "6036280011223344", "cvc": "812"}
checked = POST_paymentMethods_balance(
    merchantAccount=link["merchantAccount"], amount=link["amount"], paymentMethod=card
)
print(json.dumps({"number": money_forms(max(0, link["amount"]["value"] - checked["balance"]["value"]))}))
