# 2faedffea685c586 after
import json

print(json.dumps([work["artwork_id"] for work in GET_me_favourites()["artworks"]]))

# after
import json

wanted = GET_artworks(q="Three Nets Drying")["artworks"][0]["artwork_id"]
now = [work["artwork_id"] for work in GET_me_favourites()["artworks"]]
print(json.dumps({"state": sorted(now) == sorted({*before, wanted})}))
