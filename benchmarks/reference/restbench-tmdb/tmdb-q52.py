# 26123517d531898d
import json

found = GET_search_tv(query="2 Broke Girls")["results"]
named = [show for show in found if show["name"].lower() == "2 broke girls"] or found
print(json.dumps({"number": GET_tv_tv_id(tv_id=named[0]["id"])["number_of_episodes"]}))
