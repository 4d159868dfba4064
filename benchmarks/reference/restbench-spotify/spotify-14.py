# d3f01a7c1b90a9ea after
import json

print(json.dumps([artist["id"] for artist in GET_me_following(type="artist", limit=50)["artists"]["items"]]))

# after
import json

artists = {artist["id"] for artist in GET_me_player_currently_playing()["item"]["artists"]}
now = {artist["id"] for artist in GET_me_following(type="artist", limit=50)["artists"]["items"]}
kept = set(before) - artists
print(json.dumps({"state": not now & artists and now == kept}))
