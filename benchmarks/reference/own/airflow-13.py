# 8f24c0c4595cf8a7
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "Sales Daily Rollup")
backfills = GET_api_v2_backfills(dag_id=dag["dag_id"])["backfills"]
unfinished = next(backfill for backfill in backfills if backfill["completed_at"] is None)
others = [backfill["from_date"][:10] for backfill in backfills if backfill["id"] != unfinished["id"]]
dates = [unfinished["from_date"][:10], unfinished["to_date"][:10]]
print(json.dumps({"all": [[date, date + " 00:00:00"] for date in dates], "others": others}))
