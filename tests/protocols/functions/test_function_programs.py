"""Programs call functions of this process as they call operations of an API."""

from __future__ import annotations

import sys
import time

import pytest

from protocols import Protocol
from protocols.calls.credentials import BearerToken
from sandbox import Journal, Limits, Run, Sandbox
from tests.protocols.functions.shop import Amount, Cart, depth, shop

SECRET = "s3cr3t-of-the-shop"


def run(cart: Cart, program: str, **options: object) -> Run:
    """Run a program over the shop."""
    with Sandbox(shop(cart), **options) as sandbox:  # type: ignore[arg-type]
        return sandbox.run(program)


def test_methods_take_positional_arguments_and_values() -> None:
    """Values of classes go to the host and come back; each call is in the record, in JSON."""
    cart = Cart()
    result = run(
        cart,
        """
cart.add("pen", 2)
cart.add("ink", count=1, gift=True)
cart.limit(Amount(20, "USD"))
print(cart.sort(("name", "des"), fast=True))
total = cart.total()
print(total, total.value, total == Amount(7.5))
print([tag.word for tag in cart.tagged(Tag("a"))])
""",
    )

    assert result.outcome == "ok", result.error
    assert result.stdout.splitlines() == [
        "[['pen', 2], ['ink', 1]]",
        "Amount(value=7.5, currency='EUR') 7.5 True",
        "['a', 'a']",
    ]
    assert cart.most == Amount(20, "USD")
    calls = [(call.tool, call.method, call.arguments, call.status, call.response) for call in result.calls]
    assert calls[0] == ("cart.add", "CALL", {"name": "pen", "count": 2}, 200, 2)
    assert calls[2] == ("cart.limit", "CALL", {"most": {"value": 20, "currency": "USD"}}, 200, None)
    assert calls[3][2] == {"orders": [["name", "des"]], "options": {"fast": True}}
    assert calls[4] == ("cart.total", "READ", {}, 200, {"value": 7.5, "currency": "EUR"})


def test_a_list_that_a_class_makes_anew_may_be_filled() -> None:
    """It is a list of its own in each instance, and what the program puts into it reaches the function."""
    with Sandbox(Protocol.from_functions([depth])) as sandbox:
        result = sandbox.run(
            """
top = Folder("a")
top.folders.append(Folder("b"))
print(depth(top), depth(Folder("c")), Folder("c"))
"""
        )

    assert result.stdout == "2 1 Folder(name='c', folders=[])\n", result.error


def test_an_exception_reaches_the_program() -> None:
    """It has the name, the message and the builtin class of the host's; where nobody catches it, the tool is known."""
    result = run(
        Cart(),
        """
try:
    cart.add("pen", 0)
except ValueError as error:
    print(type(error).__name__, error, error.tool)
try:
    cart.total()
except ToolError as error:
    print(type(error).__name__, error)
cart.add("pen", 0)
""",
    )

    assert result.stdout.splitlines() == [
        "ValueError count must be at least 1 cart.add",
        "EmptyCartError the cart is empty",
    ]
    assert result.error is not None
    assert (result.error.type, result.error.message) == ("ValueError", "count must be at least 1")
    assert (result.error.tool, result.error.call, result.error.line) == ("cart.add", 2, 10)
    assert [call.status for call in result.calls] == [400, 400, 400]
    assert result.calls[0].error == "ValueError: count must be at least 1"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("cart.add(3)", "cart.add(): argument 'name' must be a string, not 3"),
        ("cart.limit(Tag('a'))", "cart.limit(): argument 'most' must be Amount or None, not {'word': 'a'}"),
        ("cart.ad('pen')", "cart has no function 'ad'; did you mean cart.add?"),
        ("Amount()", "Amount() missing 1 required argument: 'value'. It takes: value, currency"),
        ("Amount(1).value = 2", "Amount cannot be changed; make a new one"),
        ("cart.add = print", "cannot change module 'cart': it is not the program's own"),
        ("cart.broken()", "cart.broken(): its result is no JSON value: it holds an instance of complex"),
    ],
)
def test_what_cannot_be_called_is_said(program: str, message: str) -> None:
    """Each message names the tool or the class."""
    result = run(Cart(), program)

    assert result.error is not None and result.error.message == message


def look_up() -> int:
    """Look a number up, and fail with the request that was sent."""
    raise LookupError(f"no answer to /numbers?key={SECRET}")


@pytest.mark.parametrize("end", ["", "\nexcept LookupError as error:\n    print(error)"])
def test_the_exception_of_a_function_is_freed_of_secrets(end: str) -> None:
    """Whether a program catches it or not."""
    protocol = Protocol.from_functions([look_up])
    with Sandbox(protocol, credentials=[BearerToken(SECRET)], writes="allow") as sandbox:
        result = sandbox.run(f"try:\n    look_up(){end}" if end else "look_up()")

    assert "/numbers?key=[secret]" in result.stdout + str(result.error)
    assert SECRET not in repr(result)


def test_a_function_cannot_end_the_program() -> None:
    """A function that leaves is a failed call, as one with an exception is."""

    class Leaving:
        def leave(self) -> None:
            """Leave."""
            sys.exit(3)

    with Sandbox(Protocol.from_functions(Leaving())) as sandbox:
        result = sandbox.run("leaving.leave()")

    assert result.error is not None
    assert (result.error.type, result.error.tool) == ("ToolError", "leaving.leave")
    assert result.error.message == "leaving.leave(): it left with sys.exit(3) in place of a result"


def test_limits_count_functions() -> None:
    """The limits on calls and on replies hold, and a function that hangs ends the run."""
    assert run(Cart(), "while True:\n    find('a')", limits=Limits(calls=5)).limit == "calls"
    assert run(Cart(), "find('a' * 2000)", limits=Limits(response=1000)).limit == "response"

    class Slow:
        def wait(self) -> None:
            """Wait."""
            time.sleep(1.0)

    with Sandbox(Protocol.from_functions(Slow()), limits=Limits(wall=0.2)) as sandbox:
        assert sandbox.run("slow.wait()").limit == "wall"


def test_a_policy_may_refuse_writes() -> None:
    """With writes denied only functions that read run; they cannot be simulated."""
    cart = Cart()

    denied, simulated = (run(cart, "find('a')\ncart.add('pen')", writes=policy) for policy in ("deny", "simulate"))

    assert denied.error is not None and "cart.add: a write, which --writes deny refuses" in denied.error.message
    assert simulated.error is not None and "a function of this process" in simulated.error.message
    assert cart.items == []


def test_a_journal_repeats_no_write() -> None:
    """A second attempt is given what the first one was answered, exceptions aside."""
    cart = Cart()
    with Journal() as journal, Sandbox(shop(cart), journal=journal) as sandbox:
        sandbox.run("cart.add('pen')\ncart.total().nothing")
        second = sandbox.run("cart.add('pen')\nprint(cart.total().value)")

    assert second.stdout == "2.5\n"
    assert [call.replayed for call in second.calls] == [True, True]
    assert cart.items == [("pen", 1)]


def test_values_are_followed() -> None:
    """Provenance knows which result an argument comes from."""
    result = run(Cart(), "names = find('pen', 'ink')\ncart.add(names[1])")

    assert result.provenance is not None
    assert [source.path for source in result.provenance.arguments[1]["0"]] == [(1,)]
