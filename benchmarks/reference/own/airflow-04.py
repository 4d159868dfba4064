# e5ea7c340f2d1f61
import json

packages = [provider["package_name"] for provider in GET_api_v2_providers()["providers"]]
print(json.dumps({"yes": any("snowflake" in package for package in packages)}))
