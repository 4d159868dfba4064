# 2bfb31cc5cbfd671 after
import json

print(
    json.dumps(
        [comment["id"] for comment in GET_v1_files_file_key_comments(file_key="dW9jLe4CoT8yNh3UbK7m")["comments"]]
    )
)

# after
import json

comments = GET_v1_files_file_key_comments(file_key="dW9jLe4CoT8yNh3UbK7m")["comments"]
new = [comment["message"].strip(" .!") for comment in comments if comment["id"] not in before]
print(json.dumps({"state": new == ["Ready for launch"] and len(comments) == len(before) + 1}))
