# cb26c9da5a44d6d5
import json

warnings = GET_api_v2_dagWarnings()["dag_warnings"]
ids = [warning["dag_id"] for warning in warnings if warning["warning_type"] == "non-existent pool"]
dags = [GET_api_v2_dags_dag_id(dag_id=dag_id) for dag_id in ids]
larger, smaller = sorted(dags, key=lambda dag: dag["max_active_runs"], reverse=True)
print(json.dumps({"all": [[larger["dag_id"], larger["dag_display_name"]]]}))
