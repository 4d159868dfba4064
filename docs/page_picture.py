"""Take the pictures of `docs/page.md` in a real browser: `python -m docs.page_picture`.

The server, the browser and the service are those of the tests; the model writes one program.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.atc.apps.server.serving import start_endpoint, start_serving
from tests.browser import open_browser
from tests.shop import TOKEN, serving_shop

__all__ = ["take_pictures"]

QUESTION = "Refund the two largest payments of Ada Moreau's shipped orders."
PROGRAM = """customer = next(c for c in GET_customers()["items"] if c["name"] == "Ada Moreau")
shipped = GET_orders(customerId=customer["id"], status="shipped")["items"]
payments = [payment for order in shipped for payment in GET_orders_orderId_payments(orderId=order["id"])]
payments.sort(key=lambda payment: payment["amount"], reverse=True)
for payment in payments[:2]:
    refund = POST_payments_paymentId_refund(paymentId=payment["id"], reason="requested by the customer")
    print(payment["id"], refund["refunded"])
"""


def take_pictures(folder: Path) -> None:
    """Write `page.webp`, and `page-narrow.webp` in dark, while the writes of the question wait for approval."""
    with TemporaryDirectory() as place, serving_shop(Path(place)), start_endpoint() as model:
        model.programs["Refund"] = PROGRAM
        options = ["--api", f"{place}/openapi.yaml", "--auth", "bearer:env:SHOP_TOKEN", "--model", "openai:scripted"]
        environment = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none", "SHOP_TOKEN": TOKEN}
        with start_serving(Path(place), [*options, "--ui"], environment, keyed=False) as serving:
            for name, width, height, dark in (("page-narrow", 375, 812, True), ("page", 1180, 900, False)):
                with open_browser(dark=dark) as browser:
                    browser.narrow(width, height)
                    browser.open(f"{serving.url}/")
                    browser.until(lambda: browser.shown("#question"))
                    browser.press(QUESTION + "\ue007")
                    browser.until(lambda: browser.shown("#plan"))
                    browser.screenshot(folder / f"{name}.webp")
                    browser.click("#approve" if name == "page" else "#decline")
                    browser.until(lambda: browser.text("#status")[:5] in ("Answe", "Ended"))


if __name__ == "__main__":
    take_pictures(Path(__file__).parent)
