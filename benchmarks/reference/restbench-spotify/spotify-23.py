# 0b600bb8355f9588 after
import json

print(json.dumps([playlist["id"] for playlist in GET_me_playlists(limit=50)["items"]]))

# after
import json

new = [playlist for playlist in GET_me_playlists(limit=50)["items"] if playlist["id"] not in before]
right = len(new) == 1 and new[0]["name"] == "Love Taylor"
if right:
    artist = GET_search(q="Taylor Swift", type=["artist"])["artists"]["items"][0]
    top = {track["uri"] for track in GET_artists_id_top_tracks(id=artist["id"])["tracks"]}
    items = []
    for offset in (0, 50, 100):
        items += GET_playlists_playlist_id_tracks(playlist_id=new[0]["id"], limit=50, offset=offset)["items"]
    added = {item["track"]["uri"] for item in items}
    right = added <= top and len(items) == len(added) >= min(len(top), 5)
print(json.dumps({"state": right}))
