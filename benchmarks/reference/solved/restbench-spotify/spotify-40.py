song = GET_search(q="When You Believe", type=["track"])["tracks"]["items"][0]
PUT_me_following(type="artist", ids=",".join(artist["id"] for artist in song["artists"]))
print("done")
