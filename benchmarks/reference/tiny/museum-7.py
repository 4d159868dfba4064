# 4531bea24d9f6d20
import json

found = GET_artworks(q="The Clockmaker's Table")["artworks"][0]
work = GET_artworks_artwork_id(artwork_id=found["artwork_id"])
print(json.dumps({"all": [GET_artists_artist_id(artist_id=work["artist_id"])["name"]]}))
