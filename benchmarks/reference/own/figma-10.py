# b0bee9d6bd257108
import json

files = [GET_v1_files_file_key_meta(file_key=key) for key in ("hT4cYb2NwD9fJo8LpV3x", "eU5mRk7ZsG1aHq6CiB0n")]
older, newer = sorted(files, key=lambda file: file["last_touched_at"])
assert older["name"] != newer["name"]
print(json.dumps({"all": [newer["name"]], "others": [older["name"] + " was edited more recently"] * 4}))
