# cdbb958cb7ef2de4 after
import json

states = {}
for dag in GET_api_v2_dags()["dags"]:
    for run in GET_api_v2_dags_dag_id_dagRuns(dag_id=dag["dag_id"])["dag_runs"]:
        states[run["dag_run_id"]] = [dag["dag_display_name"], run["state"]]
print(json.dumps(states))

# after
import json

states = {}
for dag in GET_api_v2_dags()["dags"]:
    for run in GET_api_v2_dags_dag_id_dagRuns(dag_id=dag["dag_id"])["dag_runs"]:
        states[run["dag_run_id"]] = [dag["dag_display_name"], run["state"]]
cleaned = ("Weather Ingest", "Product Catalog Export")
rest = {run: entry for run, entry in before.items() if entry[0] not in cleaned or entry[1] != "failed"}
print(json.dumps({"state": states == rest and len(rest) < len(before)}))
