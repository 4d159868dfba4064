# 24996fb5f78b6d45
import json

title = "We Married as Job"
casts = [GET_movie_movie_id_credits(movie_id=one["id"])["cast"] for one in GET_search_movie(query=title)["results"][:3]]
casts += [GET_tv_tv_id_credits(tv_id=one["id"])["cast"] for one in GET_search_tv(query=title)["results"][:3]]
names = [{person["name"] for person in cast} for cast in casts]
print(json.dumps({"yes": any({"Yui Aragaki", "Gen Hoshino"} <= cast for cast in names)}))
