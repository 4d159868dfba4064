# c0c089b2d6df8980
import json
from datetime import datetime


def said(day):
    date = datetime.fromisoformat(day)
    return [day, f"{date:%B} {date.day}", f"{date.day} {date:%B}"]


def clock(moment):
    return [moment[11:16], moment[11:16].lstrip("0")]


def warmest(place):
    """Days of the next seven, today among them or not, by either figure of what it feels like."""
    days = GET_daily_weather(place_id=place)["daily"]["data"]
    found = {}
    for some in (days[:7], days[1:8]):
        for figure in ("feels_like_max", "feels_like"):
            best = max(day[figure] for day in some)
            found.update((day["day"], None) for day in some if day[figure] == best)
    return list(found)


places = [place["place_id"] for place in GET_find_places_prefix(text="Fisherman")[:3]]
wanted, earliest = [], {}
for place in places:
    rises = {day["day"]: day["sun"]["rise"] for day in GET_astro(place_id=place)["astro"]["data"]}
    days = warmest(place)
    wanted.append([text for day in days for text in said(day)])
    wanted.append([text for day in days for text in clock(rises[day])])
    earliest[place] = min(rises[day][11:] for day in days)

print(json.dumps({"all": wanted}))
