# 7687248f3b01cd10
import json

found = GET_artworks(q="Ferry at Dusk")["artworks"][0]
work = GET_artworks_artwork_id(artwork_id=found["artwork_id"])
print(json.dumps({"all": [GET_rooms_room_code(room_code=work["room_code"])["name"]]}))
