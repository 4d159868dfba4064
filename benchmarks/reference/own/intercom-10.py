# 599dcde7d6f4aabf
import json

collection = GET_help_center_collections_collection_id(collection_id=6416)
center = GET_help_center_help_centers_help_center_id(help_center_id=collection["help_center_id"])
print(json.dumps({"all": [center["custom_domain"]]}))
