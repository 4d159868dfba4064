"""What a program looks for is read from its text: comparisons, filters, arguments, look-ups."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from atc.program.demands import demands_of

TOOLS = frozenset({"list_orders", "list_users", "get_order"})
PROGRAMS = {
    'for o in list_orders()["data"]:\n    if o["state"] != "open":\n        continue\n    print(o)': (
        "is", "open", ("data", 0, "state"),
    ),
    'print([o for o in list_orders()["data"] if o["total"] / 100 > 50])': ("above", 5000.0, ("data", 0, "total")),
    'print([o for o in list_orders()["data"] if 7 >= o["total"]])': ("below", 7, ("data", 0, "total")),
    'print([o for o in list_orders()["data"] if o["at"][:7] == "2024-03"])': ("starts", "2024-03", ("data", 0, "at")),
    'print([o for o in list_orders()["data"] if "red" in o["tags"]])': ("contains", "red", ("data", 0, "tags")),
    'print([o for o in list_orders()["data"] if not o["paid"]])': ("false", None, ("data", 0, "paid")),
    'by = {u["email"]: u for u in list_users()["data"]}\nprint(by["x@y.example"])': (
        "is", "x@y.example", ("data", 0, "email"),
    ),
    'for key in ("a1", "b2"):\n    print(get_order(order_id=key))': ("argument", "b2", ("order_id",)),
    'from datetime import datetime, timezone\nsince = int(datetime(2024, 3, 1, tzinfo=timezone.utc).timestamp())\n'
    "print(list_orders(since=since))": ("argument", 1709251200, ("since",)),
    'print(list_orders(query={"field": "state", "value": ["open"]}))': ("argument", ("open",), ("query", "value")),
    'rows, page = [], 1\nwhile page < 3:\n    rows.extend(list_orders(page=page)["data"])\n    page += 1\n'
    'print([r for r in rows if r["state"] in ("open", "late")])': ("is", "late", ("data", 0, "state")),
    'rows = []\nrows += list_orders()["data"]\nprint([r for r in rows if r["n"] == 7])': ("is", 7, ("data", 0, "n")),
    'def pages():\n    yield from list_users()["data"]\n\nprint([u for u in pages() if u["name"].lower() == "ann"])': (
        "is", "ann", ("data", 0, "name"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_a_program_looks_for(program: str) -> None:
    """The kind, the value and the place of each demand."""
    assert PROGRAMS[program] in [(demand.kind, demand.value, demand.path) for demand in demands_of(program, TOOLS)]


@pytest.mark.parametrize(
    ("today", "value"),
    [
        ("import datetime\nday = datetime.date.today()", "2024-06-01"),
        ("from datetime import datetime\nday = datetime.now().date()", "2024-06-01"),
        (
            "import datetime\nday = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=2)",
            "2024-05-30T12:00:00+00:00",
        ),
    ],
)
def test_what_a_program_looks_for_by_today(today: str, value: str) -> None:
    """Where the time of the run is known before it, dates are reckoned from it; else the argument has no value."""
    program = f"{today}\nprint(list_orders(since=day.isoformat()))"
    now = datetime(2024, 6, 1, 12, tzinfo=UTC)

    assert [demand.value for demand in demands_of(program, TOOLS, now) if demand.kind == "argument"] == [value]
    assert [demand.taken for demand in demands_of(program, TOOLS) if demand.kind == "argument"] == [True]


def test_an_argument_of_another_reply_has_no_value() -> None:
    """It is noted as taken, and so is one whose value is not known."""
    demands = demands_of('print(get_order(order_id=list_orders()["data"][0]["id"]))', TOOLS)

    assert [demand.path for demand in demands if demand.taken] == [("order_id",)]
    assert demands_of("print(", TOOLS) == ()


def test_a_text_that_is_read_as_a_number_is_told() -> None:
    """Not where a part of it is, such as the year of a date."""
    program = (
        'order = get_order(order_id="a1")\nprint(float(order["total"] or 0), int(order["placed"][:4]))\n'
        "print(datetime.fromisoformat(order['placed']).year)"
    )

    demands = demands_of(program, TOOLS)

    assert [demand.path for demand in demands if demand.kind == "number"] == [("total",)]
