from fastmcp import FastMCP

server = FastMCP("shop")


@server.tool
def unpaid_orders(month: int) -> list[int]:
    """The orders of a month that are not paid; clients get the type as the tool's output schema."""
    return [1115, 1107, 1099] if month == 3 else []


server.run()
