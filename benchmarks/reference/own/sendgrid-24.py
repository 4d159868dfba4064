# 479f0235473bef29
import json

print(json.dumps({"yes": any(sender["locked"] for sender in GET_verified_senders()["results"])}))
