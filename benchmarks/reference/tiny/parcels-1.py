# ef9ff48fc9bcba29
import json

print(json.dumps({"number": sum(depot["city"] == "Bergen" for depot in GET_depots()["depots"])}))
