artist = GET_search(q="Taylor Swift", type=["artist"])["artists"]["items"][0]
top = GET_artists_id_top_tracks(id=artist["id"])["tracks"]
playlist = POST_users_user_id_playlists(user_id=GET_me()["id"], name="Love Taylor")
POST_playlists_playlist_id_tracks(playlist_id=playlist["id"], uris=[track["uri"] for track in top])
print("done")
