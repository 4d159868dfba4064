import asyncio
import json
import os
from pathlib import Path

from google.adk.agents import Agent
from google.adk.runners import InMemoryRunner
from google.adk.tools.openapi_tool import OpenAPIToolset
from google.adk.tools.openapi_tool.auth.auth_helpers import token_to_scheme_credential

scheme, credential = token_to_scheme_credential("oauth2Token", "header", "Authorization", os.environ["SHOP_TOKEN"])
shop = OpenAPIToolset(
    spec_str=Path("openapi.yaml").read_text(),
    spec_str_type="yaml",
    auth_scheme=scheme,
    auth_credential=credential,
    allow_private_network_access=True,
)
agent = Agent(name="shop", model="gemini-2.5-pro", tools=[shop], output_schema=list[int])
events = asyncio.run(InMemoryRunner(agent).run_debug("Which orders of March are not paid?", quiet=True))
print(json.loads(events[-1].content.parts[0].text))
