# a47881fb642bf830 after
import json

print(json.dumps([item["album"]["id"] for item in GET_me_albums(limit=50)["items"]]))

# after
import json

found = GET_search(q="Mojito", type=["album"], limit=50)["albums"]["items"]
his = {album["id"] for album in found if "Jay Chou" in [artist["name"] for artist in album["artists"]]}
now = {item["album"]["id"]: item["album"]["name"].lower() for item in GET_me_albums(limit=50)["items"]}
wanted = [album for album, name in now.items() if "mojito" in name and (not his or album in his)]
print(json.dumps({"state": any(set(now) == {*before, album} for album in wanted)}))
