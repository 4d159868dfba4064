# 2237e4b9f4c42bbf after
import json

last = POST_payments()
amount = (last["amount"]["currency"], last["amount"]["value"])
print(json.dumps({"state": amount == ("EUR", 4250) and last["paymentMethod"]["type"] == "ideal"}))
