# 0ab692dc138aa1f2
import json

print(json.dumps({"all": [GET_me_player_currently_playing()["item"]["name"]]}))
