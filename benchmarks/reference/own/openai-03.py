# 11104774d10374cd
import json

job = "ftjob-Nq3tWz81LkPo"
checkpoints = GET_fine_tuning_jobs_fine_tuning_job_id_checkpoints(fine_tuning_job_id=job, limit=100)["data"]
best, *rest = sorted(checkpoints, key=lambda checkpoint: checkpoint["metrics"]["full_valid_loss"])
names = [best["id"], best["step_number"]]
others = [checkpoint["id"] for checkpoint in rest]
print(json.dumps({"all": [names, best["metrics"]["full_valid_loss"]], "others": others}))
