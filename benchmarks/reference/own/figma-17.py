# d7f57be7ab26f925 after
import json

links = GET_v1_files_file_key_dev_resources(file_key="pZ5hAx0LwQ7nVd2JsI9k")["dev_resources"]
print(json.dumps({link["id"]: link["name"] for link in links}))

# after
import json

links = GET_v1_files_file_key_dev_resources(file_key="pZ5hAx0LwQ7nVd2JsI9k")["dev_resources"]
wanted = {link for link, name in before.items() if name != "Usability Report"}
print(json.dumps({"state": {link["id"] for link in links} == wanted and len(wanted) == len(before) - 1}))
