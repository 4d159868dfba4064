# 885dedfba1d206d9 after
import json

print(json.dumps({admin["name"]: admin["away_mode_enabled"] for admin in GET_admins()["admins"]}))

# after
import json

now = {admin["name"]: admin["away_mode_enabled"] for admin in GET_admins()["admins"]}
print(json.dumps({"state": before["Pavel Strand"] and now == {**before, "Pavel Strand": False}}))
