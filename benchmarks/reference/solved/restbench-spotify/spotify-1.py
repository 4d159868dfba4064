found = GET_search(q="Mariah Carey", type=["track"])["tracks"]["items"]
playlist = POST_users_user_id_playlists(user_id=GET_me()["id"], name="Love Mariah")
POST_playlists_playlist_id_tracks(playlist_id=playlist["id"], uris=[track["uri"] for track in found[:3]])
print("done")
