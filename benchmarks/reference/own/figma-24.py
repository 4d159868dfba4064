# 1325d56c42887ada
import json

keys = ("sG8nKq3VtC6yRw1ZeO5u", "vJ2xBf7MhA9pDl4TiS0c", "wE6aUo1XrP8kGz5NyH3j", "yC9mLd4IqW7bFs2QvT6n")
counts = [len(GET_v1_files_file_key_components(file_key=key)["meta"]["components"]) for key in keys]
print(json.dumps({"number": sum(counts)}))
