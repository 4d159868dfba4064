# 23d253254b5d26dd
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "CRM Contact Sync")
runs = GET_api_v2_dags_dag_id_dagRuns(dag_id=dag["dag_id"])["dag_runs"]
failed_run = next(run for run in runs if run["state"] == "failed")
instances = GET_api_v2_dags_dag_id_dagRuns_dag_run_id_taskInstances(
    dag_id=dag["dag_id"], dag_run_id=failed_run["dag_run_id"]
)["task_instances"]
failed = next(instance for instance in instances if instance["state"] == "failed")
print(json.dumps({"number": GET_api_v2_pools_pool_name(pool_name=failed["pool"])["open_slots"]}))
