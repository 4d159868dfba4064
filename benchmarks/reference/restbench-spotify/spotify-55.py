# a625ab4588240e9d after
import json

queue = [track["uri"] for track in GET_me_player_queue()["queue"]]
print(json.dumps([*queue, GET_me_tracks(limit=1)["items"][0]["track"]["uri"]]))

# after
import json

queue = [track["uri"] for track in GET_me_player_queue()["queue"]]
print(json.dumps({"state": queue == before and GET_me_player()["repeat_state"] == "track"}))
