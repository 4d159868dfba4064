# 6c096e9952d3284c after
import json

print(json.dumps({store["id"]: store["name"] for store in GET_vector_stores(limit=100)["data"]}))

# after
import json

now = {store["id"]: store["name"] for store in GET_vector_stores(limit=100)["data"]}
wanted = {store: "Media Coverage" if name == "Press Clippings" else name for store, name in before.items()}
print(json.dumps({"state": now == wanted and now != before}))
