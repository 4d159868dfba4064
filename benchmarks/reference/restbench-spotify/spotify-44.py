# 201b47e1c6f998da after
import json

print(json.dumps([playlist["id"] for playlist in GET_me_playlists(limit=50)["items"]]))

# after
import json

new = [playlist for playlist in GET_me_playlists(limit=50)["items"] if playlist["id"] not in before]
print(json.dumps({"state": [playlist["name"] for playlist in new] == ["Quiet"]}))
