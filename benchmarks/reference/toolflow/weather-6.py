# 28a377f45c7a0133
import json

place = GET_find_places(text="Athens")[0]["place_id"]
days = GET_daily_weather(place_id=place)["daily"]["data"][:21]
best = max(day["temperature"] for day in days)
hottest = [day for day in days if day["temperature"] == best]
print(json.dumps({"any": sorted({day["feels_like_max"] for day in hottest})}))
