# 8f6ace7c015fbe37
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "Product Catalog Export")
runs = GET_api_v2_dags_dag_id_dagRuns(dag_id=dag["dag_id"])["dag_runs"]
manual = next(run for run in runs if run["run_type"] == "manual")
print(json.dumps({"all": [manual["triggering_user_name"]]}))
