# a47881fb642bf830 after
import json

found = GET_search(q="Mojito", type=["album"], limit=50)["albums"]["items"]
his = any(album["name"] == "Mojito" and "Jay Chou" in [one["name"] for one in album["artists"]] for album in found)
saved = [item["album"]["id"] for item in GET_me_albums(limit=50)["items"]]
print(json.dumps({"his": his, "saved": saved}))

# after
import json

saved = [item["album"] for item in GET_me_albums(limit=50)["items"]]
new = [album for album in saved if album["id"] not in before["saved"]]
right = len(new) == 1 and "mojito" in new[0]["name"].lower()
if right and before["his"]:
    right = "Jay Chou" in [artist["name"] for artist in new[0]["artists"]]
print(json.dumps({"state": right and len(saved) == len(before["saved"]) + 1}))
