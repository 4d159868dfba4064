# 553ad27a93da550e after
import json

print(json.dumps([artist["id"] for artist in GET_me_following(type="artist", limit=50)["artists"]["items"]]))

# after
import json

albums = GET_search(q="Mojito", type=["album"])["albums"]["items"]
makers = [{artist["id"] for artist in album["artists"]} for album in albums if album["name"].lower() == "mojito"]
now = {artist["id"] for artist in GET_me_following(type="artist", limit=50)["artists"]["items"]}
print(json.dumps({"state": any(now == set(before) | artists for artists in makers)}))
