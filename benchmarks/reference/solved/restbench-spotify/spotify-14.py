artists = GET_me_player_currently_playing()["item"]["artists"]
DELETE_me_following(type="artist", ids=",".join(artist["id"] for artist in artists))
print("done")
