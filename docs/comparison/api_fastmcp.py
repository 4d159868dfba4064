import os
from pathlib import Path

import httpx2
import yaml
from fastmcp import FastMCP
from fastmcp.experimental.transforms.code_mode import CodeMode

with Path("openapi.yaml").open() as file:
    document = yaml.safe_load(file)
headers = {"Authorization": f"Bearer {os.environ['SHOP_TOKEN']}"}
client = httpx2.AsyncClient(base_url=document["servers"][0]["url"], headers=headers)
FastMCP.from_openapi(document, client, transforms=[CodeMode()]).run()
