# 3e2acf80a4b4614a
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "Sales Daily Rollup")
runs = GET_api_v2_dags_dag_id_dagRuns(dag_id=dag["dag_id"])["dag_runs"]
failed_run = next(run for run in runs if run["state"] == "failed")
instances = GET_api_v2_dags_dag_id_dagRuns_dag_run_id_taskInstances(
    dag_id=dag["dag_id"], dag_run_id=failed_run["dag_run_id"]
)["task_instances"]
failed = next(instance for instance in instances if instance["state"] == "failed")
hosts = [failed["hostname"], failed["hostname"].partition(".")[0]]
others = [instance["hostname"] for instance in instances if instance["hostname"] != failed["hostname"]]
print(json.dumps({"all": [failed["task_id"], hosts], "others": others}))
