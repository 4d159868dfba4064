# 968f103dc8866f62 after
import json

print(json.dumps([playlist["id"] for playlist in GET_me_playlists(limit=50)["items"]]))

# after
import json

new = [playlist for playlist in GET_me_playlists(limit=50)["items"] if playlist["id"] not in before]
right = len(new) == 1 and new[0]["name"] == "Love Mariah"
if right:
    items = GET_playlists_playlist_id_tracks(playlist_id=new[0]["id"], limit=50)["items"]
    found = GET_search(q="Mariah Carey", type=["track"], limit=50)["tracks"]["items"]
    hers = {track["uri"] for track in found}
    for item in items:
        if any(artist["name"] == "Mariah Carey" for artist in item["track"]["artists"]):
            hers.add(item["track"]["uri"])
    added = {item["track"]["uri"] for item in items}
    right = len(items) == len(added) == 3 and added <= hers
print(json.dumps({"state": right}))
