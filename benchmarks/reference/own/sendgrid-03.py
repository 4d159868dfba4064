# 8cfb02f9d5b6b8e5 after
import json

print(json.dumps(GET_user_profile()))

# after
import json

print(json.dumps({"state": GET_user_profile() == {**before, "city": "Boise"}}))
