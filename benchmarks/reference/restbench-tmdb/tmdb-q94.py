# f003dfc51a7dfb60
import json

person = GET_search_person(query="Scarlett Johansson")["results"][0]
day = GET_person_person_id(person_id=person["id"]).get("birthday")
print(json.dumps({"all": [day]} if day else {"empty": True}))
