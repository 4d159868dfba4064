# c5718be1c3978d0d
import json

person = GET_search_person(query="Christopher Nolan")["results"][0]
titles = [work["title"] for work in person["known_for"] if work.get("media_type") == "movie"]
print(json.dumps({"any": titles, "n": min(2, len(titles))} if titles else {"empty": True}))
