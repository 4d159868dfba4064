# a7dac347e5e63192
import json

conversation = GET_conversations_conversation_id(conversation_id="215470013")
admin = GET_admins_admin_id(admin_id=str(conversation["admin_assignee_id"]))
print(json.dumps({"all": [admin["name"], admin["job_title"]]}))
