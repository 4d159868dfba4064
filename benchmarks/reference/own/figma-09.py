# 833ac5e45d52a54b
import json

me = GET_v1_me()["id"]
comments = GET_v1_files_file_key_comments(file_key="tI5zW8aO3uB2dL7hM8ds")["comments"]
print(json.dumps({"yes": any(comment["user"]["id"] == me for comment in comments)}))
