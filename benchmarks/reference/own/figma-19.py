# d2840342ba812a86
import json

keys = ("nO8vIt5HsD2xRg9YeC1j", "fA7kWq4BzL6mPu3TdX0r", "iV1cGn9ZyE5oJh8KbS2w")
authors = [
    {comment["user"]["handle"] for comment in GET_v1_files_file_key_comments(file_key=key)["comments"]} for key in keys
]
everywhere = set.intersection(*authors)
others = sorted(set.union(*authors) - everywhere)
print(json.dumps({"all": sorted(everywhere), "others": others} if everywhere else {"empty": True}))
