# 99cd963d75a86cf1
import json

first = GET_person_popular()["results"][0]
day = GET_person_person_id(person_id=first["id"]).get("birthday")
print(json.dumps({"all": [day]} if day else {"empty": True}))
