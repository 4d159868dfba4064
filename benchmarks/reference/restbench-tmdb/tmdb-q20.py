# eb0af026cbdef47a
import json

found = GET_search_movie(query="Titanic")["results"]
named = [movie for movie in found if movie["title"].lower() == "titanic"] or found
words = [word["name"] for word in GET_movie_movie_id_keywords(movie_id=named[0]["id"])["keywords"]]
print(json.dumps({"any": words, "n": min(2, len(words))} if words else {"empty": True}))
