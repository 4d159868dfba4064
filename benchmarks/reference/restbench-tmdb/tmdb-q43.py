# 66c61c62e529e7f7
import json

found = GET_search_movie(query="Django Unchained")["results"]
named = [movie for movie in found if movie["title"].lower() == "django unchained"] or found
crew = GET_movie_movie_id_credits(movie_id=named[0]["id"])["crew"]
works = []
for person in [person["id"] for person in crew if person["job"] == "Director"]:
    movies = GET_person_person_id_movie_credits(person_id=person)["crew"]
    works += [movie["title"] for movie in movies if movie["job"] == "Director" and movie["id"] != named[0]["id"]]
    shows = GET_person_person_id_tv_credits(person_id=person)["crew"]
    works += [show["name"] for show in shows if show["job"] == "Director"]
works = list(dict.fromkeys(works))
print(json.dumps({"any": works, "n": min(2, len(works))} if works else {"empty": True}))
