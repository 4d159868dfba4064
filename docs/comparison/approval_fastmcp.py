from fastmcp import Context, FastMCP

server = FastMCP("shop")


@server.tool
async def refund(payment: str, reason: str, context: Context) -> str:
    """Give a payment back to the customer; the client asks its user first."""
    answer = await context.elicit(f"Refund {payment}: {reason}?", response_type=bool)
    return "refunded" if answer.action == "accept" and answer.data else "declined"


server.run()
