# 245105b505f72dd3 after
import json

print(json.dumps([work["artwork_id"] for work in GET_me_favourites()["artworks"]]))

# after
import json

found = GET_exhibitions(q="Made by Hand")["exhibitions"][0]
shown = GET_exhibitions_exhibition_id_artworks(exhibition_id=found["exhibition_id"])["artworks"]
born = {}
for work in shown[:3]:
    artist = GET_artworks_artwork_id(artwork_id=work["artwork_id"])["artist_id"]
    born[work["artwork_id"]] = GET_artists_artist_id(artist_id=artist)["born"]
wanted = min(born, key=lambda work: born[work])
now = [work["artwork_id"] for work in GET_me_favourites()["artworks"]]
print(json.dumps({"state": sorted(now) == sorted({*before, wanted})}))
