# 661cd4c5cab32046
import json

numbers = ["215470011", "215470014", "215470016"]
conversations = [GET_conversations_conversation_id(conversation_id=number) for number in numbers]
worst = min(conversations, key=lambda conversation: conversation["conversation_rating"]["rating"])
print(json.dumps({"all": [[worst["id"], worst["title"]], worst["conversation_rating"]["remark"]]}))
