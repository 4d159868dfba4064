# c0cca41d05ec52d0
import json

designs = GET_designs()["result"] + GET_designs_pre_builts()["result"]
print(json.dumps({"number": sum(design["editor"] == "code" for design in designs)}))
