# f57c6f448fbea1cd
import json

artist = GET_artists(q="Tomas Drager")["artists"][0]
listed = GET_artists_artist_id_artworks(artist_id=artist["artist_id"])["artworks"]
works = [GET_artworks_artwork_id(artwork_id=work["artwork_id"]) for work in listed[:4]]
print(json.dumps({"number": sum(work["height_cm"] > work["width_cm"] for work in works)}))
