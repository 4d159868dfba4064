# 403da1ace7bc7b1e after
import json

print(json.dumps([work["artwork_id"] for work in GET_me_favourites()["artworks"]]))

# after
import json

there = {work["artwork_id"] for work in GET_artworks(q="Three Nets Drying")["artworks"]}
now = [work["artwork_id"] for work in GET_me_favourites()["artworks"]]
print(json.dumps({"state": bool(there & set(before)) and sorted(now) == sorted(set(before) - there)}))
