# 919a64c84d750bec
import json

found = GET_search_tv(query="Black Mirror")["results"]
named = [show for show in found if show["name"].lower() == "black mirror"] or found
show = named[0]["id"]
episode = GET_tv_tv_id_season_season_number_episode_episode_number_credits(
    tv_id=show, season_number=2, episode_number=3
)
season = GET_tv_tv_id_season_season_number_credits(tv_id=show, season_number=2)
names = []
for crew in (episode["crew"], season["crew"]):
    names += [person["name"] for person in crew if person["job"] == "Director"]
names = list(dict.fromkeys(names))
print(json.dumps({"any": names} if names else {"empty": True}))
