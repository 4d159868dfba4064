# 60bd9a4284762e48
import json

person = GET_search_person(query="Catherine Hardwicke")["results"][0]
crew = GET_person_person_id_tv_credits(person_id=person["id"])["crew"]
directed = [show for show in crew if show["job"] == "Director"]
directed.sort(key=lambda show: show.get("first_air_date") or "", reverse=True)
names = [show["name"] for show in directed]
print(json.dumps({"all": names[:1], "others": names[1:]} if names else {"empty": True}))
