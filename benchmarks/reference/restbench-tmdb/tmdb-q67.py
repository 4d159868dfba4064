# 09624495d8ceee32
import json

first = GET_trending_media_type_time_window(media_type="tv", time_window="day")["results"][0]
reply = GET_tv_tv_id_similar(tv_id=first["id"])
names = [show["name"] for show in reply["results"]]
for page in range(2, min(reply["total_pages"], 5) + 1):
    names += [show["name"] for show in GET_tv_tv_id_similar(tv_id=first["id"], page=page)["results"]]
print(json.dumps({"any": list(dict.fromkeys(names))} if names else {"empty": True}))
