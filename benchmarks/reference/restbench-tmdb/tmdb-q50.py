# 873daa426cd1b65b
import json

best = GET_tv_top_rated()["results"][0]
words = [word["name"] for word in GET_tv_tv_id_keywords(tv_id=best["id"])["results"]]
print(json.dumps({"any": words} if words else {"empty": True}))
