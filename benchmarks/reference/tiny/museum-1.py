# 707351d2800570a5
import json

print(json.dumps({"number": GET_rooms_room_code(room_code="W2")["floor"]}))
