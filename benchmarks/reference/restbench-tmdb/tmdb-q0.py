# 1610a48795b3e3dd
import json

person = GET_search_person(query="Sofia Coppola")["results"][0]
crew = GET_person_person_id_movie_credits(person_id=person["id"])["crew"]
print(json.dumps({"number": len({movie["id"] for movie in crew if movie["job"] == "Director"})}))
