# 9cbf7be56364bc47
import json

ranges = ("short_term", "medium_term", "long_term")
listed = [GET_me_top_type(type="artists", time_range=one)["items"] for one in ranges]
first = [artists[0]["name"] for artists in listed if artists]
others = [artist["name"] for artists in listed for artist in artists if artist["name"] not in first]
print(json.dumps({"any": sorted(set(first)), "others": sorted(set(others))} if first else {"empty": True}))
