# b7dc3bfeb57c6369
import json

found = GET_search_tv(query="Sword Art Online")["results"]
named = [show for show in found if show["name"].lower() == "sword art online"] or found
print(json.dumps({"number": GET_tv_tv_id(tv_id=named[0]["id"])["number_of_seasons"]}))
