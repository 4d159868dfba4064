"""The task WebShop: a product that is told of in a sentence is searched for, chosen and bought, page by page.

Source: Xu et al. (arXiv:2305.16504), section 5 and appendix A; Yao et al. (arXiv:2207.01206) for the shop. By default
the pages have the form of the demonstrations. The released evaluator shows plain text instead, takes a search on every
page and whatever follows an action on its line, and counts each purchase as a success; so does `compat`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from benchmarks.manipulation.environment import (
    ActionResult,
    Environment,
    FunctionDocument,
    GoalAction,
    ManipulationTest,
    TestScore,
    drawn_in_rounds,
    failure_of,
)
from benchmarks.manipulation.webshop.goals import SESSIONS, ShopGoal, session_goals, training_goals
from benchmarks.manipulation.webshop.pages import plain_text, rich_text
from benchmarks.manipulation.webshop.session import MOST_STEPS, ShopSession, ShopTools
from benchmarks.manipulation.webshop.shopper import (
    Trajectory,
    direct_program,
    split_action,
    trajectory,
)
from protocols import Protocol
from protocols.errors import UsageError

__all__ = ["WebShop"]

_SHORT = 200
"""Demonstrations."""

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

    The demonstrations are the 200 shortest episodes, whose pages leave out four of five other products: the short ones
    of the paper.
    """

    name = "webshop"
    functions = _FUNCTIONS
    metric = "reward"
    steps = MOST_STEPS

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self._session: ShopSession | None = None
        self._unread = 0

    @cached_property
    def _training(self) -> Sequence[tuple[ShopGoal, Trajectory]]:
        return [(goal, trajectory(goal, cut=True)) for goal in training_goals()]

    @cached_property
    def demonstrations(self) -> Sequence[GoalAction]:
        """Whole episodes: the first page, and then the actions, with the pages between them."""
        episodes = sorted(self._training, key=lambda episode: _length(episode[1]))[:_SHORT]
        return tuple(_episode(steps) for _, steps in episodes)

    @cached_property
    def tests(self) -> Sequence[ManipulationTest]:
        """The sessions, with the actions of one who knows the product."""
        return tuple(_test(number, goal) for number, goal in enumerate(session_goals()))

    def samples(self, count: int, seed: int) -> Sequence[GoalAction]:
        """Single pages of the training episodes with their actions, each once before one is repeated."""
        pairs = [
            GoalAction(rich_text(page), action, (action.partition("[")[0],))
            for _, steps in self._training
            for page, action in steps
        ]
        return drawn_in_rounds(pairs, count, seed)

    def reset(self, test: ManipulationTest, seed: int = 0) -> str:
        """Begin a session; each seed draws its own limit of the price. Returns: The first page."""
        number = test.state.get("session")
        if not isinstance(number, int) or not 0 <= number < SESSIONS:
            raise UsageError(f"test {test.id} has no session of the shop; sessions are 0 to {SESSIONS - 1}")
        self._test = test
        self._session = ShopSession(session_goals()[number], seed, search_anywhere=self.compat)
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
        return Protocol.from_functions({"": ShopTools(self._visit)}, name=self.name)

    def _visit(self) -> ShopSession:
        return self.session

    def protocol(self) -> Protocol:
        """`search(text)` and `click(button)`, which give the page as text."""
        return self._protocol

    def act(self, text: str) -> ActionResult:
        """Do the action in the first line. One that cannot be done leaves the page as it is."""
        session = self.session
        first, _, _ = text.partition("\n")
        call = split_action(first.strip(), whole=not self.compat)
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


def _length(steps: Trajectory) -> tuple[int, int]:
    """Actions of an episode, and rows of its pages."""
    return len(steps), sum(len(page.rows) for page, _ in steps)


def _test(number: int, goal: ShopGoal) -> ManipulationTest:
    actions = [action for _, action in trajectory(goal)]
    return ManipulationTest(
        f"{number:03}",
        goal.instruction(0),
        ("\n".join(actions),),
        (tuple(action.partition("[")[0] for action in actions),),
        (direct_program(actions),),
        {"session": number, **goal.to_json()},
    )


def _episode(steps: Trajectory) -> GoalAction:
    """An episode as a prompt shows it: after the first action each page is a task of its own."""
    actions = [action for _, action in steps]
    later = [f"Task: {rich_text(page)}\nAction:\n{action}" for page, action in steps[1:]]
    return GoalAction(
        rich_text(steps[0][0]),
        "\n\n".join([actions[0], *later]),
        tuple(action.partition("[")[0] for action in actions),
        direct_program(actions),
    )
