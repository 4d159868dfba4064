"""A plan is data: what it calls, sets and needs is asked of it, and its text is written in one place."""

from __future__ import annotations

from decimal import Decimal

import pytest

from atc.assist.language.question import Question
from atc.assist.planning.planner import plans
from atc.program.plan import (
    PLACEHOLDER,
    Append,
    Call,
    Collected,
    Each,
    Expression,
    Items,
    Literal,
    Object,
    Pick,
    Plan,
    Print,
    Ref,
    Step,
    literal,
    reads,
    sketch,
)
from protocols import load
from protocols.dataflow.graph import ProtocolGraph

FILMS = Call("GET_films", (("query", Literal("Dune")),), ("films",))
FILM = Step("film", FILMS.at(("films", 0)))
CREDITS = Step("credits", Call("GET_credits", (("film_id", Ref("film", ("id",))),)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Literal("Café"), '"Café"'),
        (Literal(Decimal("59.90")), "59.90"),
        (literal({"name": ["it's", "…", None, True]}, observed=True), """{'name': ["it's", "…", None, True]}"""),
        (FILMS.at(("films", 0, "id")), 'GET_films(query="Dune")["films"][0]["id"]'),
        (Collected(Ref("film", ("id",)), "film", Ref("films"), 3), '[film["id"] for film in films[:3]]'),
        (Pick("Dune", FILMS, "film", ("title",), "name"), 'next(film for film in LIST if film["title"] == "Dune")'),
        (Pick("max", FILMS, "film", ("votes",), "number"), 'max(LIST, key=lambda film: film["votes"] or 0)'),
        (Pick("min", FILMS, "film", ("date",), "text"), 'min(LIST, key=lambda film: str(film["date"] or ""))'),
        (Pick("min", Ref("films"), "one", ("cast",), "length"), 'min(films, key=lambda one: len(one["cast"]))'),
    ],
)
def test_a_value_is_written_as_python(value: Expression, text: str) -> None:
    films = 'GET_films(query="Dune")["films"]'

    assert sketch(Plan((Print(value),))) == f"print({text.replace('LIST', films)})"


def test_steps_stand_in_lines_and_those_of_a_loop_are_indented() -> None:
    collecting = Append("films", Object(((Literal("film"), Ref("film")),)))
    plan = Plan((Step("films", Items()), Each("film", FILMS, (CREDITS, collecting), 3)))

    assert sketch(plan).split("\n") == [
        "films = []",
        'for film in GET_films(query="Dune")["films"][:3]:',
        '    credits = GET_credits(film_id=film["id"])',
        '    films.append({"film": film})',
    ]
    assert plan.tools == {"GET_films", "GET_credits"}
    assert [step.variable for step in plan.every_step] == ["films", "credits"]
    assert reads(Collected(Ref("film", ("id",)), "film", Ref("films"))) == {"films"}


def test_a_plan_with_a_placeholder_is_left_to_the_question() -> None:
    open_call = FILMS.with_argument("query", Items((PLACEHOLDER,)))

    assert Plan((Step("films", open_call),)).has_placeholder
    assert not Plan((FILM, CREDITS)).has_placeholder
    assert open_call.where(lambda name, value: name != "query") == Call("GET_films", (), ("films",))


def test_what_a_variable_needs_comes_with_it() -> None:
    """In its order, and nothing else; a loop's own steps need the loop."""
    plan = Plan((FILM, Step("posters", Call("GET_posters")), CREDITS))

    assert plan.needed_for("credits") == (FILM, CREDITS)
    assert plan.needed_for("posters") == (Step("posters", Call("GET_posters")),)
    assert Plan((Each("film", FILMS, (CREDITS,)),)).needed_for("credits") == ()


def test_a_shorter_plan_may_be_part_of_a_longer_one() -> None:
    """Whatever its variables are called, and also where the longer one takes less of a response."""
    longer = Plan((FILM, CREDITS))

    assert Plan((Step("films", FILMS),)).is_part_of(longer)
    assert not Plan((Step("films", FILMS.with_argument("page", Literal(2))),)).is_part_of(longer)
    assert not longer.is_part_of(longer)


def test_the_last_value_is_printed() -> None:
    follow = Step("", Call("PUT_following", (("ids", Items((Ref("film", ("id",)),))),)))

    assert sketch(Plan((FILM, CREDITS)).printing()).endswith("\nprint(credits)")
    assert sketch(Plan((FILM, follow)).printing()).endswith('\nprint(PUT_following(ids=[film["id"]]))')


def test_a_result_is_named_by_what_a_free_name_returns() -> None:
    """A function that is not named by its method is known by its path: what all names end with says nothing."""
    protocol = load(
        {
            "endpoints": [
                {"name": "get_popular_sites_for_analysis", "url": "https://a.invalid/get_popular_sites?q={q}"},
                {"name": "similar_queries_for_analysis", "url": "https://a.invalid/similar_queries?q={q}"},
            ]
        }
    )
    tools = [tool.name for tool in protocol.tools]
    planned = plans(ProtocolGraph(protocol), tools, tools, Question('What is like "party ideas"?'), tools)

    assert [plan.steps[-1].variable for plan in planned] == ["sites", "queries"]  # type: ignore[union-attr]
