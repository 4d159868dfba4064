# 9487914dd73caf97 after
import json

player = GET_me_player()
print(json.dumps([player["device"]["name"], player["is_playing"]]))

# after
import json

name, playing = before
print(json.dumps({"state": GET_me_player()["is_playing"] == (playing and name != "My PC")}))
