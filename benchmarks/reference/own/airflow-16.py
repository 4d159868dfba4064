# 84d1d24b9e889519 after
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "Support Ticket Digest")
backfills = GET_api_v2_backfills(dag_id=dag["dag_id"])["backfills"]
print(json.dumps([backfill["id"] for backfill in backfills]))

# after
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "Support Ticket Digest")
backfills = GET_api_v2_backfills(dag_id=dag["dag_id"])["backfills"]
new = [backfill for backfill in backfills if backfill["id"] not in before]
periods = [(backfill["from_date"][:10], backfill["to_date"][:10], backfill["max_active_runs"]) for backfill in new]
print(json.dumps({"state": periods == [("2024-05-06", "2024-05-10", 2)]}))
