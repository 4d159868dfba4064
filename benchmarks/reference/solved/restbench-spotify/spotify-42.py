mine = [playlist for playlist in GET_me_playlists(limit=50)["items"] if playlist["name"] == "My Rock"]
if mine:
    PUT_me_player_play(context_uri=mine[0]["uri"])
print("done" if mine else "There is no such playlist.")
