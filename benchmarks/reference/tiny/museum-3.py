# 1b796fcc9dfc8ad0
import json

found = GET_exhibitions(q="Made by Hand")["exhibitions"][0]
print(json.dumps({"all": [GET_exhibitions_exhibition_id(exhibition_id=found["exhibition_id"])["curator"]]}))
