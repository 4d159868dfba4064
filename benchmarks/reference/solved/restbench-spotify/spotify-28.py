player = GET_me_player()
if player["device"]["name"] == "My PC" and player["is_playing"]:
    PUT_me_player_pause()
print("done")
