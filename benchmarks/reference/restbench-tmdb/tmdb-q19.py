# 763828bbbd8c7cff
import json

person = GET_search_person(query="Christopher Nolan")["results"][0]
crew = GET_person_person_id_movie_credits(person_id=person["id"])["crew"]
paths = []
for movie in crew:
    if movie["job"] == "Director":
        posters = GET_movie_movie_id_images(movie_id=movie["id"])["posters"]
        paths += [movie.get("poster_path"), *[poster["file_path"] for poster in posters]]
files = list(dict.fromkeys(path.strip("/") for path in paths if path))
print(json.dumps({"any": files, "n": min(2, len(files))} if files else {"empty": True}))
