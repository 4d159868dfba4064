# d62fe2daac830a48
import json

asset = next(asset for asset in GET_api_v2_assets()["assets"] if asset["name"] == "catalog_feed")
events = GET_api_v2_assets_asset_id_queuedEvents(asset_id=asset["id"])["queued_events"]
claimed = [[event["dag_id"], event["dag_display_name"]] for event in events]
ids = [event["dag_id"] for event in events]
others = [dag["dag_id"] for dag in GET_api_v2_dags()["dags"] if dag["dag_id"] not in ids]
print(json.dumps({"all": claimed, "others": others}))
