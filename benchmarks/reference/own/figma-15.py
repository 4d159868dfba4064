# 15a601af47276645 after
import json

comments = GET_v1_files_file_key_comments(file_key="bE1sTq6KvR9mYc4ZgF8o")["comments"]
print(json.dumps([comment["id"] for comment in sorted(comments, key=lambda comment: comment["created_at"])]))

# after
import json

now = [comment["id"] for comment in GET_v1_files_file_key_comments(file_key="bE1sTq6KvR9mYc4ZgF8o")["comments"]]
print(json.dumps({"state": sorted(now) == sorted(before[1:])}))
