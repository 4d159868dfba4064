# 6c63f0a8643cf283
import json

count = 0
for shopper in ("anchor-77", "anchor-78"):
    stored = GET_storedPaymentMethods(shopperReference=shopper, merchantAccount="HarbourChandlery_UK")
    count += len(stored["storedPaymentMethods"])
print(json.dumps({"number": count}))
