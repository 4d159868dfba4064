# dd34b6d706282b8e after
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "Product Catalog Export")
runs = GET_api_v2_dags_dag_id_dagRuns(dag_id=dag["dag_id"])["dag_runs"]
failed = [run for run in runs if run["state"] == "failed" and run["start_date"] >= "2024-05-29"]
paused = {dag["dag_id"]: dag["is_paused"] for dag in GET_api_v2_dags()["dags"]}
print(json.dumps({"due": [dag["dag_id"]] if len(failed) > 1 else [], "paused": paused}))

# after
import json

paused = {dag["dag_id"]: dag["is_paused"] for dag in GET_api_v2_dags()["dags"]}
expected = {dag_id: old or dag_id in before["due"] for dag_id, old in before["paused"].items()}
print(json.dumps({"state": paused == expected}))
