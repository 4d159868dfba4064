# 6281c5b89b19b0a6
import json

keys = ("xS9pH0tT1tB6nS1cG0ty", "xA7uQ3lU1hA4yQ3aO4ta", "mP2dL3oY2gH1dB1cU1ld")
counts = {key: len(GET_v1_files_file_key_comments(file_key=key)["comments"]) for key in keys}
most = max(counts, key=lambda key: counts[key])
assert sorted(counts.values())[-2] < counts[most]
others = [f"{key} has the most" for key in keys if key != most]
print(json.dumps({"all": [most, counts[most]], "others": others * 4}))
