"""Services of several styles are learned from what they list and what their errors ask for, and left as they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from openapi_spec_validator import validate

from probing.document import openapi_document
from probing.prober.permission import WritePermission
from probing.prober.prober import Prober
from probing.prober.replies import is_empty
from probing.schema.constraints import missing_arguments
from protocols import load
from sandbox import Sandbox
from tests.local_api import LocalAPI
from tests.probing.small_services import Books, Cms, Registry, Small, probe_by_command


def probe(service: Small, writes: Literal["deny", "own"] = "deny") -> tuple[Prober, tuple[str, ...]]:
    permission = WritePermission(service.protocol, writes)
    with Sandbox(
        service.protocol, base_url=service.url, writes=permission, on_call=permission.observe, track=False
    ) as sandbox:
        prober = Prober(service.protocol, None, sandbox, permission=permission)
        return prober, prober.probe().left_behind


@pytest.fixture(scope="module")
def registry() -> Iterator[tuple[Registry, Prober]]:
    """The registry after its reads were probed."""
    with Registry() as service:
        yield service, probe(service)[0]


def test_a_list_is_asked_for_without_its_filters(tmp_path: Path) -> None:
    """What a made-up word does not find is there all the same. The command tells each reason once, and names in full;
    its document has the references of the other, and the server that was asked."""
    with Cms() as service:
        result, findings, document = probe_by_command(tmp_path, service.document, service.url)
        protocol, url, requests = service.protocol, service.url, list(service.requests)
    reads = [findings[tool.name] for tool in protocol.tools if not tool.writes]
    complete = ("documented", "no_content", "web_page")
    incomplete = {tool["tool"]: tool["outcome"] for tool in reads if tool["outcome"] not in complete}

    # There are no folders and no revisions, and nothing that is called a collection.
    assert incomplete == {
        "GET_folders": "always_empty",
        "GET_folders_id": "unreachable_argument",
        "GET_revisions": "always_empty",
        "GET_permissions": "unreachable_argument",
    }
    assert '"collection" is required' in findings["GET_permissions"]["reason"]
    assert {request.method for request in requests} == {"GET"}

    assert result.exit_code == 0
    assert result.output.count("its list was empty each time") == 1
    assert "DELETE_items_suppliers_id" in result.output and "…" not in result.output

    validate(document)
    assert document["servers"] == [{"url": url}]
    body = document["paths"]["/items/products"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"$ref": "#/components/schemas/Product"}
    supplier = document["components"]["schemas"]["Product"]["properties"]["supplier"]
    assert {"$ref": "#/components/schemas/Supplier"} in supplier["anyOf"]
    assert load(document).tool("POST_items_products").arguments == protocol.tool("POST_items_products").arguments


def test_values_that_were_seen_are_given_to_what_asks_for_them() -> None:
    """Identifiers, and fields that errors ask for."""
    with Books() as service:
        prober, _ = probe(service)
    incomplete = {name: finding.outcome for name, finding in prober.findings.items() if not finding.is_complete}

    assert incomplete == {"GET_loans": "always_empty", "GET_loans_id": "unreachable_argument"}


def test_of_what_is_made_nothing_stays() -> None:
    """Also where the reply says nothing, or says that it failed; and what has no name is not made."""
    with Cms() as service:
        before = service.stored()
        prober, left_behind = probe(service, "own")
        after = service.stored()
        posted = {request.path.rpartition("/")[2] for request in service.requests if request.method == "POST"}

    assert after == before
    assert left_behind == ()
    assert "links" not in posted
    assert "no text for a name" in prober.findings["POST_links"].reason
    assert {"suppliers", "products", "notes", "folders"} <= posted
    assert prober.findings["GET_folders"].outcome == "documented"  # there was one for a while


def test_arguments_without_a_list_of_their_own_get_values(registry: tuple[Registry, Prober]) -> None:
    """Keys of a reply, and names of the same things to look for."""
    service, prober = registry
    incomplete = {name: finding.reason for name, finding in prober.findings.items() if not finding.is_complete}
    assert sorted(incomplete) == sorted(tool.name for tool in service.protocol.tools if tool.writes), incomplete


def test_an_object_without_properties_is_documented_by_what_comes(registry: tuple[Registry, Prober]) -> None:
    """Where SPEC says that there is an object in a list and nothing of what it holds."""
    service, prober = registry
    document = openapi_document(service.protocol, prober.findings, server=service.url)
    answer = document["paths"]["/people"]["get"]["responses"]["200"]["content"]["application/json"]
    assert set(answer["schema"]["items"]["properties"]) == {"handle", "name"}
    assert answer["schema"]["items"].get("additionalProperties") is not False


def test_what_is_made_under_a_name_that_is_its_identifier_is_removed() -> None:
    """Though the answer to the POST holds nothing; what an earlier probe left under such a name stays."""
    with Registry() as service:
        service.rooms.append("probe 3")
        before = list(service.rooms)
        prober, left_behind = probe(service, "own")

    assert prober.findings["POST_rooms"].is_complete
    assert {request.method for request in service.requests} == {"GET", "POST", "DELETE"}
    assert service.rooms == before
    assert left_behind == ()


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("Missing field in JSON data: isbn", ["isbn"]),
        ({"errors": [{"message": '"isbn" is required'}]}, ["isbn"]),
        ({"detail": [{"loc": ["query", "isbn"], "msg": "Field required", "type": "missing"}]}, ["isbn"]),
        ({"isbn": ["This field is required."]}, ["isbn"]),
        ({"errors": [{"source": {"pointer": "/data/isbn"}, "detail": "can't be blank"}]}, ["isbn"]),
        ({"errors": [{"field": "year", "code": "missing"}]}, ["year"]),
        ('{"message": "isbn must be provided"}', ["isbn"]),
        ({"detail": "`isbn` is required"}, ["isbn"]),
        ({"detail": "Please provide an isbn or an id."}, ["isbn"]),
        ({"detail": "You have to specify 'isbn'."}, ["isbn"]),
        ({"detail": "Provide at least one of: isbn, year"}, ["isbn", "year"]),
        ({"isbn": ["Select a valid choice."]}, []),
        ({"message": "No such file"}, []),
        ({"message": "The isbn does not exist"}, []),
    ],
)
def test_an_error_names_the_argument_that_is_missing(body: object, names: list[str]) -> None:
    tool = Books().protocol.tool("GET_stock")

    assert missing_arguments(tool, body) == names


@pytest.mark.parametrize(
    ("body", "empty"),
    [
        ({"data": []}, True),
        ({"data": None}, True),
        ({"count": 0, "next": None, "results": []}, True),
        ({"pagination": {"skip": 0, "limit": 20, "all_records_count": 0}, "result": []}, True),
        ({"owner": {"id": 3, "count": 0}, "tags": []}, False),
        ({"id": 3, "tags": []}, False),
    ],
)
def test_an_empty_list_is_told_from_a_thing_with_an_empty_list(body: object, empty: bool) -> None:
    assert is_empty(body) is empty


def test_a_large_body_that_is_no_json_is_learned(tmp_path: Path) -> None:
    """Its beginning is kept, in the log that a stopped probe goes on from, too."""
    with LocalAPI() as service:
        service.answer("GET", "/cities", b"x" * 400_000, headers={"Content-Type": "text/plain"})
        protocol = service.protocol.only(["GET_cities"])
        with Sandbox(protocol, base_url=service.url, track=False) as sandbox:
            prober = Prober(protocol, None, sandbox, log=tmp_path / "log.jsonl")
            prober.probe()

    assert prober.findings["GET_cities"].outcome == "documented"
    assert (tmp_path / "log.jsonl").stat().st_size < 300_000
