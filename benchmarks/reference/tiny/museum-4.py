# 5f4605b06e6f276a
import json

found = GET_artworks(q="Three Nets Drying")["artworks"][0]
print(json.dumps({"all": [GET_artworks_artwork_id(artwork_id=found["artwork_id"])["acquired_on"]]}))
