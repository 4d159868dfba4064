# 0f813c2ce3cbfd46 after
import json

print(json.dumps([track["uri"] for track in GET_me_player_queue()["queue"]]))

# after
import json

title = "The Dark Side of the Moon"
albums = GET_search(q=title, type=["album"])["albums"]["items"]
albums = [album for album in albums if album["name"].lower() == title.lower()]
firsts = [GET_albums_id_tracks(id=album["id"])["items"][0]["uri"] for album in albums]
queue = [track["uri"] for track in GET_me_player_queue()["queue"]]
print(json.dumps({"state": any(queue == [*before, track] for track in firsts)}))
