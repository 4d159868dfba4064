# 9208585ac13fcec4
import json

projects = GET_v1_teams_team_id_projects(team_id="918273645001")["projects"]
print(json.dumps({"all": [project["name"] for project in projects]}))
