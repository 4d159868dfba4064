"""What a strong model reads of tools: Python, whole, and the same for every question."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.documentation import documentation
from protocols.quoting import estimate, first_sentence, plain, sentences
from protocols.samples import sample
from tests.protocols.documents.samples import document, query

RECORD = {
    "type": "object",
    "required": ["name", "changetype"],
    "properties": {
        "name": {"type": "string", "description": "Must end in a dot."},
        "changetype": {"type": "string", "enum": ["REPLACE", "DELETE"]},
        "ttl": {"type": "integer"},
        "from": {"type": "string"},
        "records": {"type": "array", "items": {"type": "object", "properties": {"content": {"type": "string"}}}},
    },
}


def described(schema: object = None, place: str = "get /zones", *, body: object = None, **operation: Any) -> str:
    """The text of a document with one operation."""
    return text_of(document(schema, body=body, place=place, **operation))


def text_of(source: dict[str, Any]) -> str:
    protocol = load(source)
    return documentation(protocol.tools, ProtocolGraph(protocol))


def in_body(name: str, schema: object) -> dict[str, Any]:
    """A body with one key."""
    return {"type": "object", "properties": {name: schema}}


def listing(*pages: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A document whose operations return pages, by their nouns."""
    paths = {f"/{noun}s": document(page, **more)["paths"]["/a"] for noun, page in pages}
    return document() | {"paths": paths}


@pytest.mark.parametrize("name", ["true", "none", "t", "literal", "typed_dict"])
def test_a_named_enumeration_takes_no_name_of_python(name: str) -> None:
    """It gets a number."""
    values = [f"a_rather_long_value_{number}" for number in range(9)]
    text = described(None, "post /zones", body=in_body(name, {"enum": values}), **query(name, {"enum": values}))

    alias = text.partition(" = ")[0]
    assert alias == {"typed_dict": "TypedDict"}.get(name, name.capitalize()) + "1"
    assert f"{name}: {alias}" in text
    ast.parse(text)


@pytest.fixture(scope="module")
def cinema() -> ProtocolGraph:
    return ProtocolGraph(load(sample("cinema")))


def test_it_is_python(cinema: ProtocolGraph) -> None:
    """Signatures with types, docstrings, and a class for each object; an identifier has its source."""
    text = documentation(cinema.protocol.tools, cinema)
    tree = ast.parse(text)
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}

    assert functions.keys() == {tool.name for tool in cinema.protocol.tools}
    assert {"Film", "FilmPage", "Person"} <= classes
    assert ast.unparse(functions["GET_films_top_rated"].args) == "*, page: int=1"
    assert '# filmId: from GET_films(query=…)["films"][0]["filmId"]' in text.splitlines()


@pytest.mark.parametrize("name", ["figma.yaml", "paypal_invoicing.json"])
def test_real_documents_are_python(data: Path, name: str) -> None:
    protocol = load(data / "openapi" / name)
    text = documentation(protocol.tools[:60], ProtocolGraph(protocol))
    ast.parse(re.sub(r"^(class \w+)\[T\]", r"\1", text, flags=re.MULTILINE))  # generic classes are of Python 3.12


def test_a_nested_body_is_whole() -> None:
    """What is required in the objects of a list is told, with all values of an enumeration."""
    text = described(None, "patch /zones", body=in_body("rrsets", {"type": "array", "items": RECORD}))

    assert 'Rrset = TypedDict("Rrset", {' in text
    assert '    "changetype": Literal["REPLACE", "DELETE"],' in text
    assert '    "name": str,  # Must end in a dot' in text
    assert '    "from": NotRequired[str],' in text
    assert "rrsets: list[Rrset] = ..." in text


def test_values_of_a_list_are_told() -> None:
    listed = {"type": "array", "items": {"type": "string", "enum": ["open", "closed"]}}

    assert 'state: list[Literal["open", "closed"]] = ...' in described(**query("state", listed))


def test_an_enumeration_too_long_to_read_says_so() -> None:
    """3,000 values: the first ones, and how many there are."""
    text = described(**query("currency", {"type": "string", "enum": [f"C{n:04}" for n in range(3000)]}))

    assert "currency: str = ..." in text
    assert 'One of 3,000 values: "C0000", "C0001"' in text
    assert "and 2,988 others" in text
    assert len(text) < 500


def test_what_an_argument_may_be_is_told() -> None:
    """Its default, limits and description, word for word."""
    schema = {"type": "integer", "default": 20, "minimum": 1, "maximum": 50}
    text = described(**query("limit", schema, description="How many come at most (e.g. 20)."))

    assert "limit: int = 20" in text
    assert "limit: How many come at most (e.g. 20). 1 to 50" in text


def test_a_description_of_a_whole_page_is_cut_at_a_sentence_and_says_so() -> None:
    """40,000 characters of HTML."""
    page = "<h1>Zones</h1><p>Lists the zones of a server. " + "<b>Read</b> this first. " * 2000 + "</p>"
    text = described(description=page)

    assert '"""Zones Lists the zones of a server. Read this first.' in text
    assert "<" not in text.replace("->", "")
    assert "more characters]" in text
    assert len(text) < 800


def test_equal_pages_are_one_class_of_their_items() -> None:
    """Lists that differ in their items alone are written down once."""
    pages = []
    for noun, key in (("zone", "items"), ("key", "items"), ("lamp", "data"), ("boat", "data")):
        listed = {"type": "array", "items": in_body(noun, {"type": "string"})}
        pages.append((noun, {"type": "object", "properties": {"next": {"type": "string"}, key: listed}}))
    text = text_of(listing(*pages))

    assert "class Page[T](TypedDict):\n    next: str\n    items: list[T]" in text
    assert "class Page2[T](TypedDict):\n    next: str\n    data: list[T]" in text
    assert "def GET_zones() -> Page[Zone]" in text
    assert "def GET_keys() -> Page[Key]" in text
    assert "def GET_boats() -> Page2[Boat]" in text


def test_a_budget_says_what_it_took(cinema: ProtocolGraph) -> None:
    """Descriptions of fields go before fields, and signatures never."""
    whole = documentation(cinema.protocol.tools, cinema)
    fewer = documentation(cinema.protocol.tools, cinema, budget=estimate(whole) - 12)
    least = documentation(cinema.protocol.tools, cinema, budget=300)

    assert "Mean of all votes" in whole
    assert fewer.startswith("# Left out for length: examples, descriptions of fields.\n")
    assert "Mean of all votes" not in fewer
    assert "what the last functions do and return" in least.splitlines()[0]
    assert all(f"{tool.name}(" in least for tool in cinema.protocol.tools)


def test_tools_in_a_line_have_their_required_arguments(cinema: ProtocolGraph) -> None:
    text = documentation(cinema.protocol.tools, cinema, details=["GET_people"])

    assert "GET_people_personId(personId)  # One person" in text.splitlines()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Search for foods (e.g. Fruit. Bread) by name. Slow.", "Search for foods (e.g. Fruit. Bread) by name."),
        ("Counts calls, e.g. Those of today. Free.", "Counts calls, e.g. Those of today."),
        ("One sentence without an end", "One sentence without an end"),
    ],
)
def test_sentences_end_where_they_end(text: str, first: str) -> None:
    """Not at an abbreviation, and not in brackets."""
    assert first_sentence(text, 80) == first


def test_sentences_are_whole_or_left_out() -> None:
    assert sentences("One. Two and three.", 8) == "One."
    assert sentences("A sentence that is longer.", 8) == ""
    assert plain("Zones.\n| name | since |\n| - | - |\n| a | b |\n| c | d |\nAll.") == "Zones. [a table of 2 rows] All."
    assert plain("A <b>bold</b> [link](https://example.org) &amp; `code`\n- item") == "A bold link & `code` item"


def test_schemas_that_refer_to_one_another_end() -> None:
    """Twelve objects that hold each other, a map of itself and a list of itself: a class each at every depth."""
    names = [f"S{number}" for number in range(12)]
    held = {name: {"$ref": f"#/components/schemas/{name}"} for name in names}
    schemas: dict[str, Any] = {name: {"type": "object", "properties": held} for name in names}
    schemas["Map"] = {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Map"}}
    schemas["List"] = {"type": "array", "items": {"$ref": "#/components/schemas/List"}}
    paths: dict[str, Any] = {}
    for name in ("S0", "Map", "List"):
        paths |= document({"$ref": f"#/components/schemas/{name}"}, place=f"get /{name}")["paths"]
    text = text_of(document(schemas=schemas) | {"paths": paths})

    ast.parse(text)
    assert text.count("class ") <= 12 * 6
    assert "def GET_Map() -> dict[str, Any]" in text
    assert "def GET_List() -> list[Any]" in text


@pytest.mark.parametrize("end", ['He says "hi"', "A path such as C:\\", 'Three """ quotes'])
def test_a_description_stays_in_its_docstring(end: str) -> None:
    ast.parse(described(description=end))


def test_a_pattern_stays_on_its_line() -> None:
    """What a document says becomes no code of the text."""
    text = described(**query("q", {"type": "string", "pattern": "a\ndef evil(): ..."}))

    assert [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)] == ["GET_zones"]


def test_values_are_told_as_they_are() -> None:
    """A value that is called like a class is no class, and a list of a page of things no other one."""
    listed = {"type": "array", "items": in_body("id", {"type": "string"})}
    pages = [
        (noun, {"type": "object", "properties": {"next": {"type": "string"}, f"{noun}s": listed}})
        for noun in ("thing", "part")
    ]
    text = text_of(listing(*pages, **query("kind", {"type": "string", "enum": ["ThingPage", "other"]})))

    assert text.count('Literal["ThingPage", "other"]') == 2


def test_members_have_their_values_and_limits() -> None:
    """An object in a body says as much of its keys as a signature does of arguments."""
    properties = {
        "currency": {"type": "string", "enum": [f"currency {n:03}" for n in range(180)]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
    }
    listed = {"type": "array", "items": {"type": "object", "properties": properties}}
    text = described(None, "post /zones", body=in_body("lines", listed))

    assert {"class Line(TypedDict, total=False):", "    count: int  # 1 to 9"} <= {*text.splitlines()}
    assert 'One of 180 values: "currency 000"' in text
    assert "and 168 others" in text


def test_few_long_values_are_counted_right() -> None:
    """Values that fill a page by themselves: the first, and how many there are besides."""
    text = described(**query("q", {"type": "string", "enum": ["a" * 1200, "b", "c"]}))

    assert "One of 3 values:" in text
    assert "and 2 others" in text
    assert len(text) < 800


def test_one_of_several_types_is_each_of_them() -> None:
    """A text or one of two objects."""
    objects = [{"type": "object", "properties": {key: {"type": "string"}}} for key in ("left", "right")]
    schema = {"anyOf": [{"type": "string"}, *objects]}

    assert "-> str | " in described(schema)


def test_a_summary_is_there_where_a_first_sentence_is_too_long() -> None:
    text = described(summary="List zones", description="List zones " + "and more " * 200)

    assert '"""List zones and more' in text
    assert "more characters]" in text


def test_classes_have_the_names_of_the_document() -> None:
    """And two small objects of different nouns are two classes, even if they have the same keys."""
    pair = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
    book = {
        "type": "object",
        "properties": {"author": pair, "genres": {"type": "array", "items": pair | {"title": "g"}}},
    }
    schemas = {"B": {"$ref": "#/components/schemas/paperback_book"}, "paperback_book": book}
    text = text_of(document({"$ref": "#/components/schemas/B"}, schemas=schemas, place="get /things"))

    assert re.findall(r"^class (\w+)", text, re.MULTILINE) == ["Author", "Genre", "PaperbackBook"]
    assert "def GET_things() -> PaperbackBook" in text


def test_an_enumeration_with_null_says_so_once() -> None:
    schema = {"type": ["string", "null"], "enum": ["a", None]}

    assert 'x: Literal["a", None] = ...' in described(**query("x", schema))


def test_what_is_taken_and_returned_is_one_class() -> None:
    """With the limits of what is taken; a key that may be left out there may be missing in a reply, too."""
    lifetime = {"type": "integer", "maximum": 9}
    zone = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "ttl": lifetime}}
    text = described(in_body("zone", zone), "put /zones", body=in_body("zone", zone))

    assert "class Zone(TypedDict):\n    name: str\n    ttl: NotRequired[int]  # At most 9\n" in text
    assert text.count("(TypedDict") == 2
