# e42df6acaa6ae2bd
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "Fraud Feature Build")
runs = GET_api_v2_dags_dag_id_dagRuns(dag_id=dag["dag_id"])["dag_runs"]
durations = [run["duration"] for run in runs if run["duration"] is not None]
print(json.dumps({"number": round(max(durations) - min(durations), 1)}))
