# 6fa8aa7756c3ed5f
import json

comments = GET_v1_files_file_key_comments(file_key="yN2kDs9WfC4eZu7TmH5q")["comments"]
latest = max(comments, key=lambda comment: comment["created_at"])
creator = GET_v1_files_file_key_meta(file_key="yN2kDs9WfC4eZu7TmH5q")["creator"]
print(json.dumps({"yes": latest["user"]["id"] == creator["id"]}))
