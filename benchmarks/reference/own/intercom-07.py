# f87df05ffefc5d7b
import json

team = next(team for team in GET_teams()["teams"] if team["name"].lower() == "onboarding crew")
members = {str(member) for member in team["admin_ids"]}
admins = GET_admins()["admins"]
names = [admin["name"] for admin in admins if str(admin["id"]) in members]
others = [admin["name"] for admin in admins if str(admin["id"]) not in members]
print(json.dumps({"all": names, "others": others}))
