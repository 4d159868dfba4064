# aea50a541a4258a2 after
import json

print(json.dumps([artist["id"] for artist in GET_me_following(type="artist", limit=50)["artists"]["items"]]))

# after
import json

title = "When You Believe"
tracks = GET_search(q=title, type=["track"])["tracks"]["items"]
songs = [{artist["id"] for artist in track["artists"]} for track in tracks if track["name"].lower() == title.lower()]
now = {artist["id"] for artist in GET_me_following(type="artist", limit=50)["artists"]["items"]}
print(json.dumps({"state": any(now == set(before) | singers for singers in songs)}))
