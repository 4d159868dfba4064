album = GET_search(q="The Dark Side of the Moon", type=["album"])["albums"]["items"][0]
POST_me_player_queue(uri=GET_albums_id_tracks(id=album["id"])["items"][0]["uri"])
print("done")
