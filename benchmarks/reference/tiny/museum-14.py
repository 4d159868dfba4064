# 6a489282a916524e
import json

found = GET_exhibitions(q="Light on Water")["exhibitions"][0]
shown = GET_exhibitions_exhibition_id_artworks(exhibition_id=found["exhibition_id"])["artworks"]
works = [GET_artworks_artwork_id(artwork_id=work["artwork_id"]) for work in shown[:4]]
artists = [GET_artists_artist_id(artist_id=work["artist_id"]) for work in works]
last = max(artists, key=lambda artist: artist["born"])
others = [artist["born"] for artist in artists if artist["name"] != last["name"]]
print(json.dumps({"all": [last["name"], last["born"]], "others": others}))
