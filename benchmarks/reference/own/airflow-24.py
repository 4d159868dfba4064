# 461b50590a7baf6b
import json

dags = GET_api_v2_dags()["dags"]
daily = [dag["dag_id"] for dag in dags if "daily" in [tag["name"] for tag in dag["tags"]]]
runs = [run for dag_id in daily for run in GET_api_v2_dags_dag_id_dagRuns(dag_id=dag_id)["dag_runs"]]
failed = [run for run in runs if run["state"] == "failed" and run["start_date"] >= "2024-05-29"]
print(json.dumps({"number": len(failed)}))
