POST_me_player_queue(uri=GET_me_tracks(limit=1)["items"][0]["track"]["uri"])
PUT_me_player_repeat(state="track")
print("done")
