# 73fbb5b042428978
import json

artist = GET_artists(q="Tomas Drager")["artists"][0]
listed = GET_artists_artist_id_artworks(artist_id=artist["artist_id"])["artworks"]
works = [GET_artworks_artwork_id(artwork_id=work["artwork_id"]) for work in listed[:5]]
print(json.dumps({"number": sum(work["insured_for"] for work in works)}))
