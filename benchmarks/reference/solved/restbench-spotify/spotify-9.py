found = GET_search(q="quiet", type=["track"])["tracks"]["items"]
PUT_me_player_play(uris=[track["uri"] for track in found])
print("done")
