"""Where a value comes from is known before a run, in any way that a program may write it."""

from __future__ import annotations

import ast

import pytest

from atc.program.def_use import DefUse, def_use
from atc.program.source import called_name
from protocols.json_path import subscripts


def analysed(program: str) -> DefUse:
    flow = def_use(program)
    assert flow is not None
    return flow


def is_tool(call: ast.Call) -> bool:
    return called_name(call).startswith("GET_")


def argument(flow: DefUse) -> ast.expr:
    """The argument of the last `use(…)` of a program."""
    calls = [node for node in ast.walk(flow.tree) if isinstance(node, ast.Call) and called_name(node) == "use"]
    return max(calls, key=lambda call: call.lineno).args[0]


@pytest.mark.parametrize(
    ("program", "origins"),
    [
        ('use(GET_films()["results"][0]["id"])', ['["results"][0]["id"]']),
        ('films = GET_films()\nfirst = films.get("results")[-1]\nuse(first["id"])', ['["results"][0]["id"]']),
        ('for film in GET_films()["results"]:\n    use(film["id"])', ['["results"][0]["id"]']),
        ('for place, film in enumerate(GET_films()):\n    use(film["id"])', ['[0]["id"]']),
        ('one, other = GET_pair()["items"]\nuse(other)', ['["items"][1]']),
        ("use([film for film in GET_films() if film][0])", ["[0]"]),
        ("good = [film for film in GET_films() if film]\nuse(good)", [""]),
        (
            'good = []\nfor film in GET_films():\n    good.append({"film": film})\nuse(good[0]["film"]["id"])',
            ['[0]["id"]'],
        ),
        ('use(max(GET_films(), key=lambda film: film["votes"])["id"])', ['[0]["id"]']),
        ("first = next(film for film in GET_films())\nuse(first)", ["[0]"]),
        ('best = None\nfor film in GET_films():\n    best = film\nuse(best["id"])', ['[0]["id"]']),
        ('x = GET_a()["a"]\nif x:\n    x = GET_b()["b"]\nuse(x)', ['["a"]', '["b"]']),
        ('x = GET_a()["a"]\nx = GET_b()["b"]\nuse(x)', ['["b"]']),
        ('def year(film):\n    return film["year"]\nuse(year(GET_film()))', ['["year"]']),
        ('def year(film):\n    use(film["year"])\nfor film in GET_films():\n    year(film=film)', ['[0]["year"]']),
        ("x = GET_a() or GET_b()\nuse(x)", ["", ""]),
        ('use(f"{GET_film()}")', []),
        ("x = GET_a()\nx += 1\nuse(x)", []),
        ("use(len(GET_films()))", []),
    ],
)
def test_the_origin_of_a_value_is_a_call_and_a_path_in_its_response(program: str, origins: list[str]) -> None:
    """Through variables, loops, unpacking, comprehensions and functions; a computed value has none."""
    flow = analysed(program)
    assert sorted(subscripts(origin.path) for origin in flow.origins(argument(flow), is_tool)) == origins


def test_a_value_with_very_many_ways_is_found_in_time() -> None:
    """Each of 300 variables is one of the two before it."""
    steps = "\n".join(f"x{n + 1} = x{n} or x{n}" for n in range(300))
    flow = analysed(f"x0 = GET_a()\n{steps}\nuse(x3)")
    assert [origin.path for origin in flow.origins(argument(flow), is_tool)] == [()]


@pytest.mark.parametrize(
    ("program", "lines"),
    [
        ("x = 1\nuse(x)", [1]),
        ("x = 1\nx = 2\nuse(x)", [2]),
        ("if y:\n    x = 1\nuse(x)", [2]),
        ("if y:\n    x = 1\nelse:\n    x = 2\nuse(x)", [2, 4]),
        ("for x in y:\n    pass\nuse(x)", [1]),
        ("x = 0\nfor y in z:\n    x = 1\n    break\nelse:\n    x = 2\nuse(x)", [3, 6]),
        ("while True:\n    x = 1\n    if x:\n        break\nuse(x)", [2]),
        ("try:\n    x = GET_a()\nexcept Exception:\n    x = None\nuse(x)", [2, 4]),
        ("try:\n    x = GET_a()\nexcept Exception as error:\n    print(error)\nuse(x)", [2]),
        ("x = 1\ndef f():\n    global x\n    x = 2\nf()\nuse(x)", [1, 4]),
        ("x = 1\n[x for x in y]\nuse(x)", [1]),
        ("if (x := y):\n    use(x)", [1]),
        ("match y:\n    case {'a': x}:\n        use(x)", [2]),
        ("with y as x:\n    use(x)", [1]),
        ("import json as x\nuse(x)", [1]),
    ],
)
def test_a_use_reads_the_definitions_that_can_reach_it(program: str, lines: list[int]) -> None:
    """Branches, loops, handlers, functions and comprehensions are told apart."""
    flow = analysed(program)
    name = argument(flow)
    assert isinstance(name, ast.Name)
    assert [getattr(definition.node, "lineno", 0) for definition in flow.reaching(name)] == lines
    assert all(name in flow.uses(definition) for definition in flow.reaching(name))


def test_a_constant_is_known_through_variables() -> None:
    """Only where no other value can be there."""
    flow = analysed('a = ["x", -1]\nb = a\nuse(b)')
    assert flow.constant(argument(flow)) == ["x", -1]
    flow = analysed("a = 1\nif y:\n    a = 2\nuse(a)")
    assert flow.constant(argument(flow)) is None


def test_what_is_no_python_has_no_analysis() -> None:
    """And a text is analysed once."""
    assert def_use("x = ") is None
    assert def_use("x = 1") is def_use("x = 1")
    assert def_use("print(" + "-" * 900 + "1)") is not None
