# 7e92a232d878b5d8
import json

job = GET_export_content_data_job_identifier(job_identifier="exp1a4c8v2n7")
print(json.dumps({"all": [[job["status"], job["status"].replace("_", " ")]]}))
