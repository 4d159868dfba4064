# 36ce8040c57bda77
import json

person = GET_search_person(query="Martin Scorsese")["results"][0]
crew = GET_person_person_id_movie_credits(person_id=person["id"])["crew"]
directed = [movie for movie in crew if movie["job"] == "Director"]
best = max((movie["vote_average"] for movie in directed), default=0)
titles = [movie["title"] for movie in directed if movie["vote_average"] == best]
others = [movie["title"] for movie in directed if movie["vote_average"] < best]
print(json.dumps({"any": titles, "others": others} if titles else {"empty": True}))
