# a3879d8aaec508b1
import json

found = GET_exhibitions(q="Light on Water")["exhibitions"][0]
shown = GET_exhibitions_exhibition_id_artworks(exhibition_id=found["exhibition_id"])["artworks"]
works = [GET_artworks_artwork_id(artwork_id=work["artwork_id"]) for work in shown[:3]]
best = max(works, key=lambda work: work["insured_for"])
others = [work["title"] for work in shown if work["title"] != best["title"]]
print(json.dumps({"all": [best["title"], best["insured_for"]], "others": others}))
