# d40dd69b096942ae after
import json

last = POST_cancels()
right = (last["merchantAccount"], last["paymentReference"]) == ("BoulangerieMoulin_FR", "ORD-55817")
print(json.dumps({"state": right}))
