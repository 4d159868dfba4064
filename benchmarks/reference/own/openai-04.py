# 39a735f4c34e97f3
import json

print(json.dumps({"number": GET_responses_response_id(response_id="resp_48be16f0d73c")["usage"]["output_tokens"]}))
