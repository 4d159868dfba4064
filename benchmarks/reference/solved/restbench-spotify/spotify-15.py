volume = GET_me_player()["device"]["volume_percent"]
PUT_me_player_pause()
PUT_me_player_volume(volume_percent=volume // 2)
PUT_me_player_play()
print("done")
