# 4aa3de6a9533d6ed
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


link = GET_paymentLinks_linkId(linkId="PLC39204E7BF16A85D")
stored = GET_storedPaymentMethods(shopperReference=link["shopperReference"], merchantAccount=link["merchantAccount"])
print(json.dumps({"all": [link["shopperEmail"], expiry_forms(stored["storedPaymentMethods"][0])]}))
