POST_users_user_id_playlists(user_id=GET_me()["id"], name="Quiet")
print("done")
