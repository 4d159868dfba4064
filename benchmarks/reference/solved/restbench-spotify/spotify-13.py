PUT_playlists_playlist_id(playlist_id=GET_me_playlists()["items"][0]["id"], name="My First")
print("done")
