# 54a38ed35fd8ae50
import json

shares = {}
for dag in GET_api_v2_dagStats()["dags"]:
    counts = {entry["state"]: entry["count"] for entry in dag["stats"]}
    shares[dag["dag_id"], dag["dag_display_name"]] = counts["failed"] / sum(counts.values())
worst = max(shares, key=lambda names: shares[names])
print(json.dumps({"all": [list(worst)]}))
