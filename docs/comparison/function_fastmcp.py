from fastmcp import FastMCP

server = FastMCP("shop")


@server.tool
def stock(product: str) -> int:
    """How many pieces of a product are in stock.

    Args:
        product: Name of the product.
    """
    return {"desk lamp": 12, "oak shelf": 0}[product.lower()]


server.run()
