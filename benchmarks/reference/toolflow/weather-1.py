# 5b71423f54931499
import json

place = GET_find_places(text="London")[0]["place_id"]
soon = any(minute["precipitation"] for minute in GET_minutely_weather(place_id=place)["minutely"]["data"])
hours = GET_historical_weather(date="2023-04-10", place_id=place)["data"]
then = any(hour["precipitation"]["total"] and "snow" not in hour["precipitation"]["type"] for hour in hours)
yes, no = ["yes", "will rain", "rained", True], ["no", "not", "none", False]
print(json.dumps({"yes": soon} if soon == then else {"all": [yes, no]}))
