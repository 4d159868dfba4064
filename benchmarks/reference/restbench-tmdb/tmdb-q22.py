# d091c534b1a3e9dc
import json

person = GET_search_person(query="Clint Eastwood")["results"][0]
credits = GET_person_person_id_movie_credits(person_id=person["id"])
latest = max([*credits["cast"], *credits["crew"]], key=lambda movie: movie.get("release_date") or "")
dates = [latest["release_date"]]
for country in GET_movie_movie_id_release_dates(movie_id=latest["id"])["results"]:
    dates += [release["release_date"][:10] for release in country["release_dates"]]
print(json.dumps({"any": sorted(set(dates))}))
