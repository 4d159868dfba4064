# 280542e8626a4a37
import json

directed = {}
for name in ("Akira Kurosawa", "Spielberg"):
    person = GET_search_person(query=name)["results"][0]
    crew = GET_person_person_id_movie_credits(person_id=person["id"])["crew"]
    directed[name.split()[-1]] = len({movie["id"] for movie in crew if movie["job"] == "Director"})
most = [name for name in directed if directed[name] == max(directed.values())]
equal = ["equal", "same", "both", "tie"] if len(most) > 1 else []
print(json.dumps({"all": [[name, *equal] for name in most]}))
