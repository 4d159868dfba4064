"""A tool is known by the name that its document gives it, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from protocols import load
from protocols.model import Protocol
from sandbox import Sandbox
from tests.local_api import LocalAPI
from tests.protocols.documents.expandable import document

LENDER = {"data": {"id": 7, "name": "Hanabi"}}


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as service:
        service.answer("GET", "/items/lenders/7", LENDER)
        yield service


@pytest.fixture
def museum(api: LocalAPI) -> Protocol:
    return load(document(api.url))


def test_a_name_that_stands_for_something_else_is_none(api: LocalAPI) -> None:
    described = document(api.url)
    named = ["print", "import", "readLoan", "readLoan", "GET_items_rooms", "read loan 2"]
    for path, name in zip([path for path in described["paths"] if path.endswith("{id}")], named, strict=True):
        described["paths"][path]["get"]["operationId"] = name
    aliases = load(described).aliases

    assert {"print", "import", "readLoan", "GET_items_rooms"}.isdisjoint(aliases)
    assert {"import_", "read_loan_2"} <= aliases.keys()


def test_a_program_calls_it_so(museum: Protocol) -> None:
    run = Sandbox(museum).run('print(readLender(id=7)["data"]["name"])')

    assert (run.stdout, [call.tool for call in run.calls]) == ("Hanabi\n", ["GET_items_lenders_id"])


def test_a_name_of_the_program_stays_its_own(museum: Protocol) -> None:
    assert Sandbox(museum).run("readLender = 3\nprint(readLender)").stdout == "3\n"
