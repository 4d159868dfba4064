# 86510066d5681f44
import json


def id_of(listed, name):
    return next(entry["id"] for entry in listed["data"] if entry["name"] == name)


runs = GET_evals_eval_id_runs(eval_id=id_of(GET_evals(limit=100), "Tone Check"), limit=100)["data"]
print(json.dumps({"number": sum(run["status"] == "failed" for run in runs)}))
