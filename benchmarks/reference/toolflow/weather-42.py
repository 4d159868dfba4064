# 6c3446a20993dc5d
import json


def clock(moment):
    return [moment[11:16], moment[11:16].lstrip("0")]


place = GET_find_places(text="Berlin")[0]["place_id"]
now = GET_current_weather(place_id=place)["current"]["visibility"]
tomorrow = GET_astro(place_id=place)["astro"]["data"][1]
rise = tomorrow["sun"]["rise"]
hours = {hour["date"]: hour["visibility"] for hour in GET_hourly_weather(place_id=place)["hourly"]["data"]}
before, after = f"{rise[:13]}:00:00", f"{rise[:11]}{int(rise[11:13]) + 1:02}:00:00"
seen = [hours[moment] for moment in (before, after) if moment in hours]
print(json.dumps({"all": [now, clock(rise), seen]}))
