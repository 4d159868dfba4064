"""Which tools are offered where an API has more than a prompt: by its paths, identifiers, arguments and responses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pytest
from rank_bm25 import BM25Plus

from atc.assist.language.question import Question
from atc.retrieval.candidates import Candidates
from atc.retrieval.word_index import WordIndex
from protocols import load
from protocols.dataflow.graph import ProtocolGraph

Schema = Mapping[str, object]
TEXT: Schema = {"type": "string"}


def objects(**properties: Schema) -> dict[str, object]:
    return {"type": "object", "properties": properties}


def listed(collection: str, /, **properties: Schema) -> dict[str, object]:
    return objects(**{collection: {"type": "array", "items": objects(**properties)}})


def nursery(operations: Mapping[str, Schema | str], header: str | None = None, *, meaning: bool = True) -> Candidates:
    """The candidates of a plant nursery.

    `operations` are a method, a path and the text of each (`{"get /plants": "List plants"}`), or a mapping with the
    `summary`, the `response` and the `body` of it. All of them require the `header`.
    """
    paths: dict[str, dict[str, object]] = {}
    for name, entry in operations.items():
        method, path = name.split(" ")
        parts = {"summary": entry} if isinstance(entry, str) else dict(entry)
        needs = [
            {"name": placeholder, "in": "path", "required": True, "schema": TEXT}
            for placeholder in re.findall(r"{(\w+)}", path)
        ]
        needs += [{"name": header, "in": "header", "required": True, "schema": TEXT}] if header else []
        content = {"content": {"application/json": {"schema": parts["response"]}}} if "response" in parts else {}
        body = {"content": {"application/json": {"schema": parts["body"]}}} if "body" in parts else None
        paths.setdefault(path, {})[method] = {
            "summary": parts.get("summary", ""),
            "parameters": needs,
            "responses": {"200": {"description": "ok", **content}},
            **({"requestBody": body} if body else {}),
        }
    document = {"openapi": "3.1.0", "info": {"title": "Nursery", "version": "1"}, "paths": paths}
    protocol = load({**document, "servers": [{"url": "https://nursery.test"}]})
    return Candidates(ProtocolGraph(protocol), meaning=meaning)


PATHS: dict[str, Schema | str] = {
    "get /greenhouses": {"summary": "List greenhouses", "response": listed("greenhouses", id=TEXT)},
    "get /benches": {"summary": "Benches of all greenhouses", "response": listed("benches", bench_id=TEXT)},
    "get /archive/benches": {"summary": "Benches of old", "response": listed("benches", bench_id=TEXT)},
    "get /greenhouses/{greenhouse_id}/benches": {
        "summary": "List benches",
        "response": listed("benches", bench_id=TEXT, greenhouse_id=TEXT),
    },
    "get /greenhouses/{greenhouse_id}/benches/{bench_id}/lamps": "The lamps above a bench",
    "get /lamps": "All lamps in stock",
    "get /pots": "Pots for sale",
    "get /customers": {"summary": "People with an account", "response": listed("customers", id=TEXT, name=TEXT)},
    "get /gift_cards": {"summary": "Vouchers in circulation", "response": listed("gift_cards", id=TEXT)},
    "post /orders": {
        "summary": "Order plants",
        "body": objects(order=objects(note=TEXT, customer=objects(id=TEXT), gift_card_id=TEXT)),
    },
    "get /orders/{order_id}/note": "The note of an order",
}


def test_the_lists_on_its_own_path_come_with_a_tool() -> None:
    """The benches of all greenhouses provide the identifier, too; the path of the lamps goes through one greenhouse."""
    question = Question("Which lamps hang above the bench?")

    chosen = nursery(PATHS).choose(question, 1)

    assert chosen[0] == "GET_greenhouses_greenhouse_id_benches_bench_id_lamps"
    assert {"GET_greenhouses_greenhouse_id_benches", "GET_greenhouses"} <= set(chosen)


def test_the_plain_list_comes_with_a_longer_path_to_the_same() -> None:
    chosen = nursery(PATHS).choose(Question("Which lamps hang above the bench?"), 1)

    assert "GET_lamps" in chosen
    assert "GET_pots" not in chosen


@pytest.mark.parametrize(
    ("query", "offered"),
    [("Order two plants with the note Hurry", True), ("Which plants did we order?", False)],
)
def test_what_a_body_refers_to_is_offered_where_something_is_written(query: str, offered: bool) -> None:
    """An identifier in an object, and one by its whole name."""
    candidates = nursery(PATHS)

    assert ({"GET_customers", "GET_gift_cards"} <= set(candidates.choose(Question(query), 3))) is offered


def test_without_companions_it_is_the_best_tools_alone() -> None:
    assert len(nursery(PATHS).choose(Question("Order two plants"), 3, closed=False)) == 3


def test_what_writes_is_left_out_first_where_the_question_only_asks() -> None:
    writes = {f"{method} /plants/{place}": "Plants of the nursery" for place in "abc" for method in ("post", "put")}
    candidates = nursery({**writes, "get /trees": "Trees of the nursery", "get /herbs": "Herbs of the nursery"})

    asked = candidates.choose(Question("Which plants of the nursery are there?"), 5, closed=False)
    ordered = candidates.choose(Question("Move the plants of the nursery"), 5, closed=False)

    assert {"GET_trees", "GET_herbs"} <= set(asked)
    assert not {"GET_trees", "GET_herbs"} & set(ordered)


def test_what_a_tool_takes_and_returns_counts_beside_its_path() -> None:
    """The word of the question is in a response four objects deep."""
    deep = objects(report=objects(rows={"type": "array", "items": objects(leaf=objects(chlorosis=TEXT))}))
    fillers = {f"get /nursery/{name}": f"Data of the {name}" for name in ("roof", "gate", "yard", "shop", "well")}
    tables: dict[str, Schema | str] = {"get /r/1": "A table", "get /r/2": {"summary": "A table", "response": deep}}
    candidates = nursery({**fillers, **tables}, meaning=False)

    chosen = candidates.choose(Question("Where is chlorosis?"), 5, closed=False)

    assert "GET_r_2" in chosen


def test_values_in_a_question_choose_no_tool() -> None:
    """Neither a title in quotes, nor what every tool requires; an address is one by its form."""
    fillers = {f"get /{name}": f"The {name}s" for name in ("roof", "gate", "yard", "shop", "well", "lawn")}
    others = {"get /email_lookup": "Find somebody", "get /branches": "Branches of trees", "get /meadow": "Meadows"}
    candidates = nursery({**fillers, **others}, header="branch")

    chosen = candidates.choose(Question('Who wrote "Roof and lawn" for x.y@meadow.test? Branch 7f-2.'), 5, closed=False)

    assert "GET_email_lookup" in chosen


def texts() -> Sequence[list[str]]:
    return [["pot", "clay", "pot"], ["lamp"], [], ["clay", "lamp", "soil", "soil", "bench"]]


@pytest.mark.parametrize("word", ["pot", "clay", "lamp", "soil", "nothing"])
def test_a_word_is_worth_what_bm25_says(word: str) -> None:
    expected = BM25Plus(texts()).get_scores([word])

    assert WordIndex(texts()).worth(word).tolist() == (expected - expected.min()).tolist()


def test_texts_without_words_are_worth_nothing() -> None:
    assert WordIndex([[], []]).worth("pot").tolist() == [0.0, 0.0]
