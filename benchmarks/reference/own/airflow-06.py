# 86720ec0c1e8e78e
import json

logs = GET_api_v2_eventLogs()["event_logs"]
pause = next(log for log in logs if log["event"] == "pause" and log["dag_display_name"] == "Weather Ingest")
others = [log["owner"] for log in logs if log["owner"] != pause["owner"]]
print(json.dumps({"all": [pause["owner"], [pause["when"], pause["when"][:16], pause["when"][:10]]], "others": others}))
