# be31b604b49f9424
import json

found = GET_search_collection(query="Star Wars")["results"]
named = [one for one in found if "star wars" in one["name"].lower()] or found
companies = {}
for movie in GET_collection_collection_id(collection_id=named[0]["id"])["parts"]:
    for company in GET_movie_movie_id(movie_id=movie["id"])["production_companies"]:
        companies[company["id"]] = company["name"]
places = [GET_company_company_id(company_id=company).get("headquarters") for company in companies]
places = list(dict.fromkeys(place for place in places if place))
print(json.dumps({"any": places} if places else {"empty": True}))
