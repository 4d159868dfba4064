"""The task WebShop: a product that is told of in a sentence is searched for, chosen and bought, page by page.

Source: Xu et al. (arXiv:2305.16504), section 5 and appendix A; Yao et al. (arXiv:2207.01206) for the shop. By default
the pages have the form of the demonstrations. The released evaluator shows plain text instead, takes a search on every
page and whatever follows an action on its line, and counts each purchase as a success; so does `compat`.
"""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

from benchmarks.manipulation.environment import (
    ActionResult,
    Environment,
    FunctionDocument,
    ManipulationTest,
    TestScore,
    failure_of,
)
from benchmarks.manipulation.webshop.products import ShopGoal
from benchmarks.manipulation.webshop.session import MOST_STEPS, ShopSession, ShopTools, plain_text, rich_text
from protocols import Protocol

__all__ = ["WebShop"]

_ACTION = re.compile(r"(search|click)\[([^\]\n]+)\]")
_RELEASED = re.compile(r"(search|click)\[(.+)\]")
"""What the released evaluator takes for an action, whatever follows it."""

_FUNCTIONS = (
    FunctionDocument(
        "search", "search[text]", "Search for products. It can be used on a page that has the button Search."
    ),
    FunctionDocument(
        "click", "click[button]", "Click a button of the page. Buy Now buys the product with the options clicked."
    ),
)


class WebShop(Environment):
    """100 visits. An action is one line; what stands below it is not read.

    The demonstrations are whole episodes, the shortest of those of one who knows the product; their pages leave out
    four of five other products, as the short ones of the paper. A sample is a page of such an episode with its action.
    """

    name = "webshop"
    folder = Path(__file__).parent
    functions = _FUNCTIONS
    metric = "reward"
    steps = MOST_STEPS

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self._session: ShopSession | None = None
        self._unread = 0

    def reset(self, test: ManipulationTest, seed: int = 0) -> str:
        """Begin a session; each seed draws its own limit of the price. Returns: The first page."""
        self._test = test
        self._session = ShopSession(ShopGoal.read(test.state), seed, search_anywhere=self.compat)
        self._unread = 0
        return self._seen()

    @property
    def session(self) -> ShopSession:
        """The present visit. Raises: ValueError: The environment was not reset."""
        if self._session is None:
            raise ValueError("reset the environment with a test first")
        return self._session

    def _seen(self) -> str:
        return plain_text(self.session.page) if self.compat else rich_text(self.session.page)

    @cached_property
    def _protocol(self) -> Protocol:
        return Protocol.from_functions({"": ShopTools(lambda: self.session)}, name=self.name)

    def protocol(self) -> Protocol:
        """`search(text)` and `click(button)`, which give the page as text."""
        return self._protocol

    def act(self, text: str) -> ActionResult:
        """Do the action in the first line. One that cannot be done leaves the page as it is."""
        session = self.session
        first, _, _ = text.partition("\n")
        call = _split_action(first.strip(), whole=not self.compat)
        try:
            if call is None:
                session.step()
                self._unread += 1
                raise ValueError("write one action: search[text] or click[button]")
            name, argument = call
            _ = session.search(argument) if name == "search" else session.click(argument)
        except ValueError as error:
            return ActionResult(call[:1] if call else (), self._seen(), str(error), session.done)
        return ActionResult((name,), self._seen(), done=session.done)

    def score(self) -> TestScore:
        """The reward; `success` is 1 for a purchase that is worth something, `steps` are the actions."""
        session = self.session
        bought = session.value is not None
        value = session.value or 0.0
        success = bought if self.compat else value > 0
        executed = bool(session.called) and not self._unread
        failure = "" if value == 1 else failure_of(executed, session.called, self.test)
        return TestScore(value, failure, {"success": float(success), "steps": float(session.steps)})


def _split_action(line: str, *, whole: bool) -> tuple[str, str] | None:
    """Function and argument of an action; None where the text is no action.

    Args:
        whole: Nothing may follow the action, and no bracket is in it.
    """
    matched = _ACTION.fullmatch(line) if whole else _RELEASED.match(line)
    return (matched[1], matched[2]) if matched else None
