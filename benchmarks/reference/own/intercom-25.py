# 6187817b334c870d after
import json

conversation = GET_conversations_conversation_id(conversation_id="215470015")
print(json.dumps([tag["id"] for tag in conversation["tags"]["tags"]]))

# after
import json

wanted = next(tag["id"] for tag in GET_tags()["data"] if tag["name"] == "Escalated")
conversation = GET_conversations_conversation_id(conversation_id="215470015")
now = {tag["id"] for tag in conversation["tags"]["tags"]}
print(json.dumps({"state": wanted not in before and now == {*before, wanted}}))
