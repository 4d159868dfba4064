album = GET_search(q="Mojito", type=["album"])["albums"]["items"][0]
PUT_me_albums(ids=album["id"])
print("done")
