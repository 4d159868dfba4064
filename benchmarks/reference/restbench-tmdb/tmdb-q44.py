# 3dd0125c3992447d
import json

names = []
shows = {show["id"] for tool in (GET_tv_on_the_air, GET_tv_airing_today) for show in tool()["results"]}
for show in shows:
    names += [person["name"] for person in GET_tv_tv_id_credits(tv_id=show)["cast"]]
names = list(dict.fromkeys(names))
print(json.dumps({"any": names, "n": min(2, len(names))} if names else {"empty": True}))
