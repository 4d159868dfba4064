album = GET_search(q="Mojito", type=["album"])["albums"]["items"][0]
PUT_me_following(type="artist", ids=",".join(artist["id"] for artist in album["artists"]))
print("done")
