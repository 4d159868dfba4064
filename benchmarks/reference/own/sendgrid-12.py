# 19dfae926ecfad76
import json

print(json.dumps({"all": [GET_mail_settings_forward_spam()["email"]]}))
