found = GET_exhibitions(q="Made by Hand")["exhibitions"][0]
shown = GET_exhibitions_exhibition_id_artworks(exhibition_id=found["exhibition_id"])["artworks"][:3]
works = [GET_artworks_artwork_id(artwork_id=work["artwork_id"]) for work in shown]
first = min(works, key=lambda work: GET_artists_artist_id(artist_id=work["artist_id"])["born"])
PUT_me_favourites(artwork_ids=[first["artwork_id"]])
print("done")
