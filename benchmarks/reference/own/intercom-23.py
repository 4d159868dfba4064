# 55dde906766af66b after
import json

print(json.dumps(GET_conversations_conversation_id(conversation_id="215470014")["read"]))

# after
import json

read = GET_conversations_conversation_id(conversation_id="215470014")["read"]
print(json.dumps({"state": read and not before}))
