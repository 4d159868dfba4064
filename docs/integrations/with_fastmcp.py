"""A FastMCP server with tools of its own, and those of an API mounted under the prefix `shop`."""

from fastmcp import FastMCP

from atc.apps.toolset import open_toolset

server = FastMCP("mine")


@server.tool
def vat(amount: float) -> float:
    """The value added tax in an amount."""
    return round(amount * 0.19, 2)


with open_toolset("openapi.yaml", auth=["bearer:env:SHOP_TOKEN"], model="openai:gpt-5") as functions:
    server.mount(FastMCP("shop", tools=functions), namespace="shop")
    server.run()
