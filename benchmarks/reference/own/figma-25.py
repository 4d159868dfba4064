# 532229ee808ae2f6 after
import json

keys = ("eF1yHj7SqO5rCz8DnU3m", "zR3gQe8YuK5oMt1JdX7f", "gY3fF4kG8vU3fW3mJ0ln")
comments = {key: GET_v1_files_file_key_comments(file_key=key)["comments"] for key in keys}
print(json.dumps({key: [comment["id"] for comment in listed] for key, listed in comments.items()}))

# after
import json

keys = ("eF1yHj7SqO5rCz8DnU3m", "zR3gQe8YuK5oMt1JdX7f", "gY3fF4kG8vU3fW3mJ0ln")
comments = {key: GET_v1_files_file_key_comments(file_key=key)["comments"] for key in keys}
counts = {key: len(GET_v1_files_file_key_versions(file_key=key)["versions"]) for key in keys}
most = max(counts, key=lambda key: counts[key])
assert sorted(counts.values())[-2] < counts[most]
new = {
    key: [comment["message"].strip(" .!") for comment in listed if comment["id"] not in before[key]]
    for key, listed in comments.items()
}
print(json.dumps({"state": new == {key: ["Thanks for all the rounds"] if key == most else [] for key in keys}}))
