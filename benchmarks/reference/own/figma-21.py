# 885d7d5cba8cd61d after
import json

keys = ("qD2yLw8RnA5vTk1EhM7c", "xS9bCo3UjG6fPz4IiV0e")
comments = {key: GET_v1_files_file_key_comments(file_key=key)["comments"] for key in keys}
print(json.dumps({key: [comment["id"] for comment in listed] for key, listed in comments.items()}))

# after
import json

keys = ("qD2yLw8RnA5vTk1EhM7c", "xS9bCo3UjG6fPz4IiV0e")
comments = {key: GET_v1_files_file_key_comments(file_key=key)["comments"] for key in keys}
first, second = keys
assert len(before[first]) != len(before[second])
target, other = (first, second) if len(before[first]) > len(before[second]) else (second, first)
new = [comment["message"] for comment in comments[target] if comment["id"] not in before[target]]
same = [comment["id"] for comment in comments[other]] == before[other]
print(json.dumps({"state": [text.strip(" .") for text in new] == ["Please tidy up the open threads"] and same}))
