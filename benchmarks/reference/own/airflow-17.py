# e9cbefe4e12d6856 after
import json

names = ("conn_type", "host", "port", "login", "schema")
connections = GET_api_v2_connections()["connections"]
print(json.dumps({entry["connection_id"]: [entry[name] for name in names] for entry in connections}))

# after
import json

moved = {"reporting_replica": "pg-replica2.larkfieldlabs.example"}
names = ("conn_type", "host", "port", "login", "schema")
connections = GET_api_v2_connections()["connections"]
now = {entry["connection_id"]: [entry[name] for name in names] for entry in connections}
expected = {key: [values[0], moved.get(key, values[1]), *values[2:]] for key, values in before.items()}
print(json.dumps({"state": now == expected}))
