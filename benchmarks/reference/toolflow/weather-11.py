# 923d0dbaf6bb2222
import json

here = {"lat": "41.9028", "lon": "12.4964"}
named = {"place_id": GET_nearest_place(**here)["place_id"]}
with_letters = {"lat": "41.9028N", "lon": "12.4964E"}
ways = (named, here, with_letters)
yes, no = ["yes", "expected", True], ["no", "not", "none", False]
winds, rain, warned = [], [], []
for where in ways:
    winds.append(GET_current_weather(**where)["current"]["wind"]["speed"])
    hours = GET_hourly_weather(**where)["hourly"]["data"]
    for some in (hours[:2], hours[1:3]):
        rain += yes if any(hour["precipitation"]["total"] for hour in some) else no
    alerts = GET_alerts(**where)["alerts"]["data"]
    warned += [alert["event"] for alert in alerts] + [alert["headline"] for alert in alerts]
    warned += yes if alerts else no
print(json.dumps({"all": [winds, rain, warned]}))
