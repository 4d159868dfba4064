# 77b3fc268dde74ba
import json

person = GET_search_person(query="Leonardo DiCaprio")["results"][0]
cast = GET_person_person_id_movie_credits(person_id=person["id"])["cast"]
latest = max(cast, key=lambda movie: movie.get("release_date") or "")
crew = GET_movie_movie_id_credits(movie_id=latest["id"])["crew"]
directors = [person["name"] for person in crew if person["job"] == "Director"]
others = [person["name"] for person in crew if person["name"] not in directors]
print(json.dumps({"all": directors, "others": others} if directors else {"empty": True}))
