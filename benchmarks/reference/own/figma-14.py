# b54077b606919f63
import json

keys = ("wM3tGz8HpJ1xSb6VqA5e", "lR9yNf4DkC7uOi2WjX0h")
counts = [len(GET_v1_files_file_key_dev_resources(file_key=key)["dev_resources"]) for key in keys]
assert all(counts)
print(json.dumps({"number": sum(counts)}))
