# 5ec608d5d923d068 after
import json

print(json.dumps([assistant["id"] for assistant in GET_assistants(limit=100)["data"]]))

# after
import json

now = [assistant["id"] for assistant in GET_assistants(limit=100)["data"]]
gone = "asst_Jc3wXn85GhSo"
print(json.dumps({"state": gone in before and sorted(now) == sorted(set(before) - {gone})}))
