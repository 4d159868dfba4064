found = GET_artworks(q="Three Nets Drying")["artworks"][0]
DELETE_me_favourites(artwork_ids=[found["artwork_id"]])
print("done")
