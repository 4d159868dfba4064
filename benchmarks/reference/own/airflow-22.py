# 37c42c1ffd1d47da
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "Fraud Feature Build")
runs = GET_api_v2_dags_dag_id_dagRuns(dag_id=dag["dag_id"])["dag_runs"]
manual = next(run for run in runs if run["run_type"] == "manual")
instances = GET_api_v2_dags_dag_id_dagRuns_dag_run_id_taskInstances(
    dag_id=dag["dag_id"], dag_run_id=manual["dag_run_id"]
)["task_instances"]
longest = max(instances, key=lambda instance: instance["duration"])
others = [instance["duration"] for instance in instances if instance is not longest]
print(json.dumps({"all": [longest["task_id"], longest["duration"]], "others": others}))
