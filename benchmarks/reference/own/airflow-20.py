# c03a3fd749abe154 after
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "Marketing Attribution")
runs = GET_api_v2_dags_dag_id_dagRuns(dag_id=dag["dag_id"])["dag_runs"]
print(json.dumps({run["dag_run_id"]: [run["state"], run["note"]] for run in runs}))

# after
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "Marketing Attribution")
runs = GET_api_v2_dags_dag_id_dagRuns(dag_id=dag["dag_id"])["dag_runs"]
notes = {run["dag_run_id"]: (run["note"] or "").lower().strip(" .'\"") for run in runs}
expected = {
    run: "ad exchange was down, rerun planned" if state == "failed" else (note or "").lower().strip(" .'\"")
    for run, (state, note) in before.items()
}
print(json.dumps({"state": notes == expected}))
