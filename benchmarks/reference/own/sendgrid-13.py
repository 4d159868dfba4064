# 3b23ed3d8809bab1
import json

entry = next(item for item in GET_marketing_singlesends()["result"] if item["name"] == "Autumn Preview")
design = GET_designs_id(id=GET_marketing_singlesends_id(id=entry["id"])["email_config"]["design_id"])
year, month, day = design["updated_at"][:10].split("-")
days = ["-".join((year, month, day)), "/".join((month, day, year)), "/".join((day, month, year))]
moments = [design["updated_at"], *days]
print(json.dumps({"all": [design["name"], moments]}))
