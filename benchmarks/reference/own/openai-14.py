# 0dc14228f46e7dd5
import json
from datetime import UTC, datetime


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


def moment(seconds):
    """A moment as an answer may give it: seconds since 1970, or a day."""
    return [seconds, datetime.fromtimestamp(seconds, UTC).date().isoformat()]


project = id_of(GET_organization_projects(limit=100), "North Window")
keys = GET_organization_projects_project_id_api_keys(project_id=project, limit=100)["data"]
last = max(keys, key=lambda key: key["last_used_at"])
print(json.dumps({"all": [[last["name"], last["id"]], moment(last["last_used_at"])]}))
