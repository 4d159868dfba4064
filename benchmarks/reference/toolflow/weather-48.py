# 69188fdee73d4e78
import json
from datetime import datetime


def said(day):
    date = datetime.fromisoformat(day)
    return [day, f"{date:%B} {date.day}", f"{date.day} {date:%B}"]


names = ["London", "Paris", "Madrid"]
places = {name: GET_find_places(text=name)[0]["place_id"] for name in names}
wanted, most = [], []
for name in names:
    wanted.append(GET_current_weather(place_id=places[name])["current"]["wind"]["speed"])
    hours = [hour["wind"]["speed"] for hour in GET_hourly_weather(place_id=places[name])["hourly"]["data"]]
    most.append([max(hours[:15]), max(hours[1:16])])
wanted += [sorted(set(both)) for both in most]
windiest = []
for way in (0, 1):
    best = max(both[way] for both in most)
    windiest += [name for name, both in zip(names, most, strict=True) if both[way] == best]
days, speeds = [], []
for name in dict.fromkeys(windiest):
    rises = GET_astro(place_id=places[name])["astro"]["data"]
    for some in (rises[:7], rises[1:8]):
        first = min(some, key=lambda day: day["sun"]["rise"][11:])["day"]
        days += said(first)
        daily = GET_daily_weather(place_id=places[name])["daily"]["data"]
        speeds += [day["wind"]["speed"] for day in daily if day["day"] == first]
print(json.dumps({"all": [*wanted, sorted(set(windiest)), list(dict.fromkeys(days)), sorted(set(speeds))]}))
