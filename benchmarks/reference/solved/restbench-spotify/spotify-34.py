top = GET_me_top_type(type="tracks")["items"]
playlist = POST_users_user_id_playlists(user_id=GET_me()["id"], name="My Top")
POST_playlists_playlist_id_tracks(playlist_id=playlist["id"], uris=[track["uri"] for track in top])
print("done")
