"""From an object that a program holds to a field or an identifier that another tool returns."""

from __future__ import annotations

import pytest

from protocols import load
from protocols.dataflow.call_paths import AvailableObject, path_to_field, path_to_resource
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import IdentifierReference
from protocols.samples import sample


@pytest.fixture(scope="module")
def cinema() -> ProtocolGraph:
    return ProtocolGraph(load(sample("cinema")))


def names(graph: ProtocolGraph) -> list[str]:
    return [tool.name for tool in graph.protocol.tools]


FILM = AvailableObject("film", "GET_films", ("films", 0))
PERSON = AvailableObject("person", "GET_people", ("people", 0))


@pytest.mark.parametrize(
    ("field", "held", "text"),
    [
        ("birthday", [PERSON], 'GET_people_personId(personId=person["personId"])["birthday"]'),
        ("nothing_of_the_kind", [PERSON, FILM], None),
    ],
)
def test_the_shortest_way_to_a_field(
    cinema: ProtocolGraph, field: str, held: list[AvailableObject], text: str | None
) -> None:
    call_path = path_to_field(cinema, field, held, {}, names(cinema))

    assert (None if call_path is None else str(call_path)) == text


def test_a_way_may_take_several_calls(cinema: ProtocolGraph) -> None:
    """The studio of a film is in the film's details, and its headquarters in those of the studio."""
    call_path = path_to_field(cinema, "headquarters", [FILM], {}, names(cinema))

    details = 'GET_films_filmId(filmId=film["filmId"])'
    assert str(call_path) == f'GET_studios_studioId(studioId={details}["studio"]["studioId"])["headquarters"]'


def test_an_identifier_that_was_used_already_is_used_again(cinema: ProtocolGraph) -> None:
    """The reviews of a film do not hold the film, but the program that asked for them knew its identifier."""
    want = cinema.reference("GET_films_filmId", "filmId")
    assert want == IdentifierReference("film", "id")

    call_path = path_to_field(
        cinema, "studio", [AvailableObject("reviews", "GET_films_filmId_reviews", ())], {want: "n"}, names(cinema)
    )

    assert str(call_path) == 'GET_films_filmId(filmId=n)["studio"]'


def test_only_tools_that_may_be_called_are_on_the_way(cinema: ProtocolGraph) -> None:
    assert path_to_field(cinema, "birthday", [PERSON], {}, ["GET_films", "GET_people"]) is None


def test_what_lies_under_an_object_is_called_for(cinema: ProtocolGraph) -> None:
    """`film["credits"]` is no field of any film, but a path under it."""
    call_path = path_to_resource(cinema, "credits", [FILM], {}, names(cinema))

    assert str(call_path) == 'GET_films_filmId_credits(filmId=film["filmId"])'
    assert path_to_resource(cinema, "trailers", [FILM], {}, names(cinema)) is None
