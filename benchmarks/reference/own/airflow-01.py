# d9e24f8c7d12e3c0
import json

paused = [dag for dag in GET_api_v2_dags()["dags"] if dag["is_paused"]]
print(json.dumps({"all": [[dag["dag_id"], dag["dag_display_name"]] for dag in paused]}))
