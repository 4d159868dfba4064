# 763828bbbd8c7cff
import json

person = GET_search_person(query="Christopher Nolan")["results"][0]
crew = GET_person_person_id_movie_credits(person_id=person["id"])["crew"]
covers, shown = [], []
for movie in crew:
    if movie["job"] == "Director":
        images = GET_movie_movie_id_images(movie_id=movie["id"])
        covers.append(movie.get("poster_path"))
        shown += [image["file_path"] for image in [*images["posters"], *images["backdrops"]]]
files = list(dict.fromkeys(path.strip("/") for path in [*covers, *shown] if path))
least = 1 if len(set(shown)) < 4 else 2  # where all movies share their images, few are all that there are
print(json.dumps({"any": files, "n": least} if files else {"empty": True}))
