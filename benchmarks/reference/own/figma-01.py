# 06528a7fce46b840
import json

file = GET_v1_files_file_key_meta(file_key="oT5iE2vA5qO9cK8tW0xm")
last, creator = file["last_touched_by"], file["creator"]
assert last != creator
print(json.dumps({"all": [[last["handle"], last["id"]]], "others": [creator["handle"]] * 4}))
