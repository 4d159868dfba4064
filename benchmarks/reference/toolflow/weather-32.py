# 27afba53cae1c771
import json

place = GET_find_places(text="London")[0]["place_id"]
now = GET_current_weather(place_id=place)["current"]["pressure"]
hours = [hour["pressure"] for hour in GET_hourly_weather(place_id=place)["hourly"]["data"]]
days = [day["pressure"] for day in GET_daily_weather(place_id=place)["daily"]["data"]]
winds = [day["wind"]["avg_speed"] for day in GET_weather_statistics(place_id=place)["statistics"]["data"]]
wanted = [now, [max(hours[:7]), max(hours[1:8])], [max(days[:7]), max(days[1:8])], max(winds[:30])]
print(json.dumps({"all": wanted}))
