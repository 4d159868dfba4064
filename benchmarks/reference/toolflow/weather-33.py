# 725df2d079dee9ff
import json
from datetime import datetime

now = datetime.now()
place = GET_find_places(text="Paris")[0]["place_id"]
wind = GET_current_weather(place_id=place)["current"]["wind"]["speed"]
hours = GET_historical_weather(date=f"{now.year - 1}-{now:%m-%d}", place_id=place)["data"]
covers = [hour["cloud_cover"] for hour in hours]
then = [sum(covers) / len(covers), *sorted(set(covers))]
days = [day["cloud_cover"] for day in GET_daily_weather(place_id=place)["daily"]["data"]]
print(json.dumps({"all": [wind, then, [max(days[:6]), max(days[1:7])]]}))
