# 7fe15fb6b7f9bbcf
import json

errors = GET_api_v2_importErrors()["import_errors"]
broken = next(error for error in errors if error["bundle_name"] == "finance-dags")
kind, _, detail = broken["stack_trace"].partition(": ")
files = [broken["filename"], broken["filename"].removesuffix(".py")]
others = [error["filename"] for error in errors if error["filename"] != broken["filename"]]
print(json.dumps({"all": [files, [broken["stack_trace"], kind, detail]], "others": others}))
