# a0d05ca2fcedc22f
import json

found = GET_search_collection(query="The Hunger Games")["results"]
named = [one for one in found if "the hunger games" in one["name"].lower()] or found
words = []
for movie in GET_collection_collection_id(collection_id=named[0]["id"])["parts"]:
    words += [word["name"] for word in GET_movie_movie_id_keywords(movie_id=movie["id"])["keywords"]]
words = list(dict.fromkeys(words))
print(json.dumps({"any": words, "n": min(2, len(words))} if words else {"empty": True}))
