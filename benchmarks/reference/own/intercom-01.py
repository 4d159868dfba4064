# 54e0e14e980658dc
import json

admins = GET_admins()["admins"]
away = [admin["name"] for admin in admins if admin["away_mode_enabled"]]
others = [admin["name"] for admin in admins if not admin["away_mode_enabled"]]
print(json.dumps({"all": away, "others": others}))
