# 52be1e157c886f5e
import json

first, second = (
    len(GET_v1_files_file_key_versions(file_key=key)["versions"])
    for key in ("zU1fY3aG2pO9rR6cF8ps", "yZ6sZ2vW4yT9pL1bI8ef")
)
assert first != second
print(json.dumps({"yes": first > second}))
