# 842b1367c80be82c
import json

keys = ("kF5uZa8QxN3rJd6WgB1y", "mT7eHp0CvS4iLo9KfR2b", "rP1wYj6GcX8sUn3AqM5d", "tL4oEk9DhV7zBi2NxF0g")
files = {key: GET_v1_files_file_key_meta(file_key=key) for key in keys}
oldest = min(keys, key=lambda key: files[key]["last_touched_at"])
file = files[oldest]
others = [f"{key} has gone" for key in keys if key != oldest]
user = file["last_touched_by"]
print(json.dumps({"all": [[oldest, file["name"]], [user["handle"], user["id"]]], "others": others * 4}))
