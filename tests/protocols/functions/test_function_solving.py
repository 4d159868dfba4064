"""Python functions are checked before a run, and a question is solved with those of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc import Agent
from atc.apps.cli import main
from atc.assist.check import check
from protocols import Protocol, UsageError, load
from protocols.contracts.contract import Contract
from tests.protocols.functions.shop import Cart, shop
from tests.scripted import ScriptedModel

FILE = '''
"""A counter."""
from __future__ import annotations

__all__ = ["counter", "double"]
READS = ["double"]


class Counter:
    def __init__(self) -> None:
        self.total = 0

    def add(self, number: int) -> int:
        """Add a number to the counter."""
        if number > 100:
            raise ValueError("number must be at most 100")
        self.total += number
        return self.total


counter = Counter()


def double(number: int) -> int:
    """Double a number."""
    return 2 * number
'''


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A file of functions, as `--api` names it."""
    (tmp_path / "count.py").write_text(FILE)
    return f"functions:{tmp_path / 'count.py'}"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("cart.ad('pen')", 'cannot access attribute "ad" of "cart"; did you mean "cart.add"?'),
        ("cart.add('pen', cuont=1)", 'cart.add(): no parameter named "cuont"; did you mean "count"?'),
        ("cart.add()", 'cart.add(): argument missing for parameter "name"'),
        ("cart.add('pen', '3')", "cart.add(): argument 'count' must be an integer, not '3'"),
        ("cart.add(['pen'][:1])", 'cart.add(): argument "name" must be str, not list[str]'),
        ("cart.total(1)", "too many positional arguments: it is called as cart.total()"),
        ("Amount(1, 'EU')", "Amount(): argument 'currency' must be one of 'EUR', 'USD', not 'EU'; did you mean 'EUR'?"),
        ("print(cart.total().valu)", 'cannot access attribute "valu" for class "Amount"; it has value, currency'),
    ],
)
def test_a_check_knows_functions(program: str, message: str) -> None:
    """What is certainly wrong is said in the names that the program uses."""
    messages = [diagnostic.message for diagnostic in check(program, Contract(shop(Cart())), strict=True)]

    assert message in messages


def test_a_right_program_has_no_diagnostics() -> None:
    """Positional, variadic and keyword-only arguments, values and lists for tuples are all fine."""
    program = """
names = find("pen", "ink")
for name in names:
    cart.add(name, len(names), gift=True)
cart.sort(["name", "asc"], ("count", "des"), fast=True)
cart.limit(Amount(currency="USD", value=3))
cart.limit(None)
print(cart.total().value + 1, [tag.word for tag in cart.tagged(Tag("a"))])
"""

    assert check(program, Contract(shop(Cart())), strict=True) == []


def test_an_agent_revises_what_a_function_refused(source: str) -> None:
    """An exception is attributed to its tool; the next program answers, and no write is repeated."""
    model = ScriptedModel(
        "```python\ncounter.add(3)\nprint(counter.add(double(200)))\n```",
        "```python\ncounter.add(3)\nprint(counter.add(double(20)))\n```",
    )
    agent = Agent(load(source), model=model, writes="allow")

    solution = agent.solve("Add three and the double of twenty to the counter. What is its total?")

    assert solution.answer == "43"
    first = solution.attempts[0]
    assert first.attribution is not None and first.attribution.tool == "counter.add"
    assert first.fault is not None and first.fault.message == "number must be at most 100"
    assert "counter.add(number: int) -> int — Add a number to the counter." in model.asked[0][-2].content


def test_commands_take_a_file_of_functions(source: str, tmp_path: Path) -> None:
    """`atc run` and `atc check` work; `atc simulate` says why not."""
    program = tmp_path / "program.py"
    program.write_text("print(counter.add(double(4)))")

    run = CliRunner().invoke(main, ["run", str(program), "--api", source])
    good = CliRunner().invoke(main, ["check", str(program), "--api", source])
    program.write_text("print(counter.ad(4))")
    bad = CliRunner().invoke(main, ["check", str(program), "--api", source])
    simulate = CliRunner().invoke(main, ["simulate", source])

    assert (run.exit_code, run.stdout.strip()) == (0, "8")
    assert good.exit_code == 0
    assert bad.exit_code == 1 and 'did you mean "counter.add"?' in bad.output
    assert simulate.exit_code == 2 and "there is nothing to simulate" in simulate.output


def test_what_functions_print_is_not_printed_by_the_program(tmp_path: Path) -> None:
    """By pprint, in a module beside the file, or to sys.stdout: it goes to stderr, and stdout is the program's."""
    (tmp_path / "printing_helper.py").write_text("def note():\n    print('noted')\n")
    (tmp_path / "tools.py").write_text(
        "import sys\nfrom pprint import pprint\nimport printing_helper\nprint('loaded')\ndef total() -> int:\n"
        "    'The total.'\n    pprint([1])\n    sys.stdout.write('written')\n    printing_helper.note()\n    return 3\n"
    )
    (tmp_path / "program.py").write_text("print(total())")
    command = ["run", str(tmp_path / "program.py"), "--api", f"functions:{tmp_path / 'tools.py'}"]
    plain, as_json = (CliRunner().invoke(main, [*command, *options]) for options in ([], ["--json"]))

    assert plain.stdout == "3\n"
    assert all(text in plain.stderr for text in ("loaded", "[1]", "written", "noted"))
    assert json.loads(as_json.stdout)["stdout"] == "3\n"


@pytest.mark.parametrize(
    ("program", "answer"),
    [
        ('cart.add("pen", 2)\ncart.sort(("name", "asc"))', "[['pen', 2]]"),
        ('cart.add("pen", 2)\ncart.limit(None)', "called cart.add, cart.limit"),
        ('cart.add("pen", 2)\nprint(cart.total().value)', "5.0"),
    ],
)
@pytest.mark.parametrize("query", ["Which 2 pens are there, for 2025/02/06?", "Order 2 pens for February 6, 2025."])
def test_a_program_that_acts_is_an_answer(program: str, answer: str, query: str) -> None:
    """It is accepted at once, printed or not, and nothing speaks against it."""
    protocol = Protocol.from_functions({"cart": Cart()})
    solution = Agent(protocol, model=ScriptedModel(f"{program}\n```"), writes="allow").solve(query)

    assert (solution.status, solution.answer) == ("answered", answer)
    assert [attempt.program for attempt in solution.attempts] == [program]
    assert (solution.findings, solution.standing) == ((), "supported")


def test_a_program_that_only_reads_has_to_print() -> None:
    """Where `reads` names the function, a silent program is no answer."""
    model = ScriptedModel("find('pen')\n```", "print(find('pen'))\n```")
    solution = Agent(shop(Cart()), model=model).solve("Which pens are there?")

    assert solution.answer == "['red pen']"
    assert [attempt.fault and attempt.fault.type for attempt in solution.attempts] == ["NoOutput", None]


def test_a_python_file_without_its_scheme_is_told_how_it_is_named(tmp_path: Path) -> None:
    """`--api tools.py` is no API document, but may be meant as functions."""
    with pytest.raises(UsageError, match=r"functions:.*tools\.py"):
        load(tmp_path / "tools.py")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no Python file"),
        ("x = 1\n", "there are no public functions in it"),
        ("__all__ = 3\n", "__all__ must be a list of names"),
        ('def open() -> int:\n    "Do."\n', "open (bad.py, line 1): open means something else in a program"),
        ("__all__ = ['a']\n", "__all__ names 'a'"),
        ("import nothing_of_the_kind\n", "line 1: ModuleNotFoundError"),
        ("def f(:\n", "line 1: SyntaxError: invalid syntax"),
        ("def f(x):\n    '''Do.'''\n", "f (bad.py, line 1): argument 'x' has no type hint"),
        ("def f(x: int) -> int:\n    '''Do.'''\n    return x\nREADS = 'f'\n", "READS must be a list of names"),
    ],
)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, text: str | None, message: str) -> None:
    """A file that is missing, fails, or holds no good function is an error that says where."""
    file = tmp_path / "bad.py"
    if text is not None:
        file.write_text(text)

    with pytest.raises(UsageError) as caught:
        load(f"functions:{file}")

    assert message in str(caught.value)
