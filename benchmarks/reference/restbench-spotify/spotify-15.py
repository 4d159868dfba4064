# 570de96cbc207768 after
import json

print(json.dumps(GET_me_player()["device"]["volume_percent"]))

# after
import json

player = GET_me_player()
print(json.dumps({"state": player["is_playing"] and player["device"]["volume_percent"] < before}))
