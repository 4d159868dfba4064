found = GET_artworks(q="Three Nets Drying")["artworks"][0]
PUT_me_favourites(artwork_ids=[found["artwork_id"]])
print("done")
