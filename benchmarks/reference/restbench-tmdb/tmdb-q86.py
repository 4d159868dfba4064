# 2b61aadd43903fef
import json

found = GET_search_movie(query="The Shawshank Redemption")["results"]
named = [movie for movie in found if movie["title"].lower() == "the shawshank redemption"] or found
companies = GET_movie_movie_id(movie_id=named[0]["id"])["production_companies"]
places = [GET_company_company_id(company_id=company["id"]).get("headquarters") for company in companies]
places = list(dict.fromkeys(place for place in places if place))
print(json.dumps({"any": places} if places else {"empty": True}))
