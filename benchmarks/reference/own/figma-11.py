# ea53633b1635a4d6
import json

components = GET_v1_files_file_key_components(file_key="vX8bPw3JqL6tFy1RoS9g")["meta"]["components"]
sets = GET_v1_files_file_key_component_sets(file_key="vX8bPw3JqL6tFy1RoS9g")["meta"]["component_sets"]
assert len(components) != len(sets)
others = [f"{len(sets)} components", f"{len(components)} component sets"]
print(json.dumps({"all": [len(components), len(sets)], "others": others * 4}))
