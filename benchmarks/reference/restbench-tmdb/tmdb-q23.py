# f37c953134c6b212
import json

found = GET_search_movie(query="The Dark Knight")["results"]
named = [movie for movie in found if movie["title"].lower() == "the dark knight"] or found
reviews = GET_movie_movie_id_reviews(movie_id=named[0]["id"])["results"]
begun = [" ".join(review["content"].strip().splitlines()[0].split()[:6]) for review in reviews]
begun = list(dict.fromkeys(text for text in begun if text))
longest = 2000 + 2 * sum(len(review["content"]) for review in reviews)
print(json.dumps({"any": begun, "n": min(2, len(begun)), "longest": longest} if begun else {"empty": True}))
