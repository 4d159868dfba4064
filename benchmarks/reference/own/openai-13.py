# 22beac02a010a19e
import json

runs = GET_threads_thread_id_runs(thread_id="thread_Bq7nYx31cLsE", limit=100)["data"]
latest = max(runs, key=lambda run: run["created_at"])
assistant = GET_assistants_assistant_id(assistant_id=latest["assistant_id"])
names = [entry["name"] for entry in GET_assistants(limit=100)["data"]]
others = [name for name in names if name != assistant["name"]]
print(json.dumps({"all": [assistant["name"]], "others": others}))
