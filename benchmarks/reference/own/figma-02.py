# caae25efbd22ed07
import json


def day(moment):
    """A moment as an answer may give it."""
    return [moment, moment[:10]]


versions = GET_v1_files_file_key_versions(file_key="zP3nHc8YdJ5wQe1GfA6u")["versions"]
newest, *rest = sorted(versions, key=lambda version: version["created_at"], reverse=True)
others = [version["created_at"][:10] for version in rest]
print(
    json.dumps({"all": [day(newest["created_at"]), [newest["user"]["handle"], newest["user"]["id"]]], "others": others})
)
