# 84e662552d1096c8 after
import json

print(json.dumps([connection["connection_id"] for connection in GET_api_v2_connections()["connections"]]))

# after
import json

names = [connection["connection_id"] for connection in GET_api_v2_connections()["connections"]]
rest = [name for name in before if name != "lake_s3"]
print(json.dumps({"state": "lake_s3" in before and names == rest}))
