# 1f15226195c2d6e9 after
import json

print(json.dumps([[playlist["id"], playlist["name"]] for playlist in GET_me_playlists(limit=50)["items"]]))

# after
import json

now = [[playlist["id"], playlist["name"]] for playlist in GET_me_playlists(limit=50)["items"]]
print(json.dumps({"state": now == [[before[0][0], "My First"], *before[1:]]}))
