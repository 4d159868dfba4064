# 0166dc34490086b2 after
import json
from itertools import product

old = GET_paymentLinks_linkId(linkId="PL28F6B0D93C7E41A5")
wanted = {
    "merchantAccount": old["merchantAccount"],
    "amount": {"currency": "EUR", "value": 46500},
    "reference": "ROOF-12B",
}
copied = ("countryCode", "shopperReference", "shopperEmail", "shopperLocale", "description", "reusable")
new_ids = []
for choice in product((False, True), repeat=len(copied)):
    extra = {name: old[name] for name, chosen in zip(copied, choice, strict=True) if chosen}
    new_ids.append(POST_paymentLinks(**wanted, **extra)["id"])
print(json.dumps({"status": old["status"], "new_ids": new_ids}))

# after
import json

closed = GET_paymentLinks_linkId(linkId="PL28F6B0D93C7E41A5")["status"] == "expired"
new = []
for identifier in before["new_ids"]:
    try:
        new.append(GET_paymentLinks_linkId(linkId=identifier))
    except Exception:
        continue
right = [(link["amount"]["value"], link["reference"]) for link in new] == [(46500, "ROOF-12B")]
print(json.dumps({"state": before["status"] == "active" and closed and right}))
