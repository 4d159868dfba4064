# f4ead9a5bd455ace
import json
from datetime import datetime, timedelta

now = datetime.now()
then, tomorrow = f"{now.year - 1}-{now:%m-%d}", f"{now + timedelta(days=1):%Y-%m-%d}"
places = {name: GET_find_places(text=name)[0]["place_id"] for name in ("London", "Paris", "Berlin")}
highest = {}
for name, place in places.items():
    highest[name] = max(hour["temperature"] for hour in GET_historical_weather(date=then, place_id=place)["data"])
hottest = [name for name in places if highest[name] == max(highest.values())]
forecast = []
for name in hottest:
    for day in GET_daily_weather(place_id=places[name])["daily"]["data"]:
        if day["day"] == tomorrow:
            forecast += [day["temperature"], day["temperature_max"], day["temperature_min"]]
print(json.dumps({"all": [hottest, sorted(set(forecast))]}))
