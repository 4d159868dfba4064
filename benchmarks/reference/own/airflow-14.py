# c13a7268c89f4db5
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "Sales Daily Rollup")
print(json.dumps({"yes": "import pandas" in GET_api_v2_dagSources_dag_id(dag_id=dag["dag_id"])["content"]}))
