# 043668a7af9158d1
import json

style = GET_v1_styles_key(key="9be2d07f41aa63c85d20")["meta"]
print(json.dumps({"all": [style["name"], style["style_type"]]}))
