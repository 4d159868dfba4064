# 40474c91d9d9d754
import json

found = GET_search_tv(query="Game of Thrones")["results"]
named = [show for show in found if show["name"].lower() == "game of thrones"] or found
networks = GET_tv_tv_id(tv_id=named[0]["id"])["networks"]
pages = [GET_network_network_id(network_id=network["id"]).get("homepage") for network in networks]
pages = [page.rstrip("/") for page in pages if page]
print(json.dumps({"any": pages} if pages else {"empty": True}))
