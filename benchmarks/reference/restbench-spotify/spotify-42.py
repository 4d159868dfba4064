# b81415de5438cc2d after
import json

playing = GET_me_player_currently_playing()
print(json.dumps((playing.get("context") or {}).get("uri")))

# after
import json

mine = [playlist for playlist in GET_me_playlists(limit=50)["items"] if playlist["name"].lower() == "my rock"]
playing = GET_me_player_currently_playing()
context, item = (playing.get("context") or {}).get("uri"), playing["item"]["uri"]
right = False
for playlist in mine:
    items = GET_playlists_playlist_id_tracks(playlist_id=playlist["id"], limit=50)["items"]
    inside = context != before and item in [one["track"]["uri"] for one in items]
    right = right or (playing["is_playing"] and (context == playlist["uri"] or inside))
print(json.dumps({"state": right} if mine else {"empty": True}))
