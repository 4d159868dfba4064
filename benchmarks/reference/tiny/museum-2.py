# c024c51a6a23e6f8
import json

print(json.dumps({"number": GET_me_favourites()["total"]}))
