# 69149edefbcb194b
import json

component = GET_v1_components_key(key="c4e81fa27b9d06531e0f8a52")["meta"]
user, frame = component["user"], component["containing_frame"]
print(json.dumps({"all": [[user["handle"], user["id"]], [frame["pageName"], frame["pageId"]]]}))
