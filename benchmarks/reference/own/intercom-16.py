# 913c8b330053b6fc
import json

numbers = ["215470012", "215470013", "215470015", "215470017"]
conversations = [GET_conversations_conversation_id(conversation_id=number) for number in numbers]
waits = [conversation["statistics"]["time_to_admin_reply"] for conversation in conversations]
average = sum(waits) / len(waits)
print(json.dumps({"all": [[average, round(average), round(average, 1)]]}))
