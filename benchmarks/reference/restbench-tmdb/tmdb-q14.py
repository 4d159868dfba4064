# 8e32ead1617bb1ec
import json

found = GET_search_movie(query="Twilight")["results"]
named = [movie for movie in found if movie["title"].lower() == "twilight"] or found
crew = GET_movie_movie_id_credits(movie_id=named[0]["id"])["crew"]
directors = [person["name"] for person in crew if person["job"] == "Director"]
others = [person["name"] for person in crew if person["name"] not in directors]
print(json.dumps({"all": directors, "others": others} if directors else {"empty": True}))
