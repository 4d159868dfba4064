# eb0ef625f2aa9ea5
import json

skills = GET_skills(limit=100)["data"]
newest = max(skills, key=lambda skill: skill["created_at"])
version = newest["default_version"]
others = [skill["name"] for skill in skills if skill["id"] != newest["id"]]
print(json.dumps({"all": [newest["name"], [int(version), f"v{version}"]], "others": others}))
