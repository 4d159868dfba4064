# e1948e96ace16d19
import json

segments = GET_segments(include_count=True)["segments"]
largest = max(segments, key=lambda segment: segment["count"])
others = [segment["name"] for segment in segments if segment["id"] != largest["id"]]
print(json.dumps({"all": [largest["name"], largest["count"]], "others": others}))
