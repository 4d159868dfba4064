# 7c7ae048f021e73f
import json

jobs = GET_api_v2_jobs()["jobs"]
triggerer = next(job for job in jobs if job["job_type"] == "TriggererJob")
others = [job["hostname"] for job in jobs if job["hostname"] != triggerer["hostname"]]
short = triggerer["hostname"].partition(".")[0]
print(json.dumps({"all": [[triggerer["hostname"], short]], "others": others}))
