# 55f3f9bf289789e4
import json

teams = ("447120936018", "447120936025", "447120936031")
names, counts = {}, {}
for team in teams:
    listed = GET_v1_teams_team_id_projects(team_id=team)
    names[team], counts[team] = listed["name"], len(listed["projects"])
fewest = min(counts, key=lambda team: counts[team])
assert sorted(counts.values())[1] > counts[fewest]
others = [f"{option} has the fewest" for team in teams if team != fewest for option in (team, names[team])]
wanted = [fewest, names[fewest]] if list(names.values()).count(names[fewest]) == 1 else [fewest]
print(json.dumps({"all": [wanted], "others": others * 4}))
