# 79f79b2e1ba58dfc after
import json

print(json.dumps([playlist["id"] for playlist in GET_me_playlists(limit=50)["items"]]))

# after
import json

new = [playlist for playlist in GET_me_playlists(limit=50)["items"] if playlist["id"] not in before]
right = len(new) == 1 and new[0]["name"] == "My Top"
if right:
    top = {track["uri"] for track in GET_me_top_type(type="tracks", limit=50)["items"]}
    items = GET_playlists_playlist_id_tracks(playlist_id=new[0]["id"], limit=50)["items"]
    added = {item["track"]["uri"] for item in items}
    right = added <= top and len(items) == len(added) >= min(len(top), 5)
print(json.dumps({"state": right}))
