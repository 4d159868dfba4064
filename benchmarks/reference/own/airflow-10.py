# 032dc114f6dc13cd
import json

dag = next(dag for dag in GET_api_v2_dags()["dags"] if dag["dag_display_name"] == "Marketing Attribution")
tasks = GET_api_v2_dags_dag_id_tasks(dag_id=dag["dag_id"])["tasks"]
task = next(task for task in tasks if task["task_id"] == "score_channels")
others = [task["task_id"] for task in tasks if task["task_id"] not in ("score_channels", *task["downstream_task_ids"])]
print(json.dumps({"all": task["downstream_task_ids"], "others": others}))
