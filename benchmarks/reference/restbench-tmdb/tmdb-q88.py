# 00096ffa63a54324
import json

dates = {}
for title in ("The Double Life of Veronique", "Mulholland Drive"):
    found = GET_search_movie(query=title)["results"]
    named = [movie for movie in found if movie["title"].lower() == title.lower()] or found
    dates[title] = GET_movie_movie_id(movie_id=named[0]["id"])["release_date"]
print(json.dumps({"all": [title for title in dates if dates[title] == min(dates.values())]}))
