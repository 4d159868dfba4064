# 1b7c3b3dbca6f4cb
import json

invited = GET_teammates_pending()["result"]
admins = [invitation["email"] for invitation in invited if invitation["is_admin"]]
others = [invitation["email"] for invitation in invited if not invitation["is_admin"]]
print(json.dumps({"all": admins, "others": others}))
