"""Several APIs at once: names, servers, credentials and data flow, each with its own and none with another's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atc import Agent
from protocols import Protocol, UsageError, combine, load
from protocols.calls.auth import credential
from protocols.calls.credentials import Credential
from protocols.simulator import Simulator
from sandbox import Journal, Sandbox
from tests.local_api import Answer, LocalAPI
from tests.protocols.several.apis import CRM, SHOP, document
from tests.protocols.several.conftest import CRM_TOKEN, SHOP_TOKEN, TwoAPIs
from tests.scripted import ScriptedModel

ACROSS = (
    "order = shop__GET_orders()[0]\nprint(crm__GET_customers_customer_id(customer_id=order['customer_id'])['name'])"
)


def both(protocol: Protocol) -> list[Credential]:
    return [
        credential("shop=bearer:env:SHOP_TOKEN", protocol),
        credential("crm=token:env:CRM_TOKEN", protocol),
    ]


def test_tools_have_the_name_of_their_api_in_front(two: TwoAPIs) -> None:
    """Programs call `shop__GET_orders` and `crm__GET_orders`, which would else have one name; operationIds, too."""
    protocol = two.protocol

    assert [tool.name for tool in protocol.tools][:2] == ["shop__GET_orders", "shop__POST_orders"]
    assert protocol.tool("shop__listOrders").name == "shop__GET_orders"
    assert protocol.tool("crm__GET_orders").servers[0].url == two.crm.url
    assert all(tool.name.isidentifier() for tool in protocol.tools)


def test_schemas_of_one_name_stay_apart(two: TwoAPIs) -> None:
    """Both APIs define `Node`, which refers to itself; each tool answers with its own."""
    protocol = two.protocol
    shop, crm = (
        json.dumps(protocol.standalone(protocol.tool(f"{name}__GET_tree").response_schema or {}))
        for name in ("shop", "crm")
    )

    assert set(protocol.definitions) == {"shop__Node", "crm__Node"}
    assert '"#/$defs/shop__Node"' in json.dumps(protocol.tool("shop__GET_tree").response_schema)
    assert shop != crm


def test_a_credential_goes_to_its_own_api_alone(two: TwoAPIs) -> None:
    """Neither server ever sees the other one's token, whether a function or `requests` calls it."""
    protocol = two.protocol
    program = f"""
import requests
shop__GET_orders()
crm__GET_customers_customer_id(customer_id=7)
requests.get("{two.crm.url}/orders")
requests.get("{two.shop.url}/orders")
"""
    run = Sandbox(protocol, credentials=both(protocol)).run(program)

    assert run.outcome == "ok", run.error
    assert [r.headers["authorization"] for r in two.shop.requests] == [f"Bearer {SHOP_TOKEN}"] * 2
    assert [r.headers["authorization"] for r in two.crm.requests] == [f"Bearer {CRM_TOKEN}"] * 2
    assert [call.tool for call in run.calls][2:] == ["crm__GET_orders", "shop__GET_orders"]


def test_a_redirect_from_one_api_to_another_is_not_followed(two: TwoAPIs) -> None:
    """A shop that sends its clients on to the CRM gets no token there."""
    protocol = two.protocol
    two.shop.script("GET", "/orders", Answer(302, None, {"Location": f"{two.crm.url}/orders"}))
    run = Sandbox(protocol, credentials=both(protocol)).run("shop__GET_orders()")

    assert run.error is not None
    assert two.crm.requests == []


def test_what_one_api_echoes_does_not_reach_the_other(two: TwoAPIs) -> None:
    """A shop that tells its token back in a reply tells it to nobody: neither the program nor the CRM gets it."""
    protocol = two.protocol
    two.shop.answer("GET", "/orders", [{"id": 1, "customer_id": 7, "total": 30, "echo": SHOP_TOKEN}])
    program = 'import requests\necho = shop__GET_orders()[0]["echo"]\nprint(echo)\n'
    program += f'requests.get("{two.crm.url}/orders", params={{"q": echo}})'
    run = Sandbox(protocol, credentials=both(protocol)).run(program)

    assert run.stdout == "[secret]\n"
    assert SHOP_TOKEN not in str(two.crm.requests)


def test_an_api_without_a_server_is_named() -> None:
    """A document without servers needs a base URL of its own; no other API's server stands in for it."""
    protocol = combine({"shop": document(SHOP, "https://shop.example", "Shop"), "crm": document(CRM, "", "CRM")})

    with pytest.raises(UsageError, match=r"document of crm names no server .*--base-url crm=URL"):
        Sandbox(protocol)
    with pytest.raises(UsageError, match="shop=…: there is but one API"):
        Sandbox(load(document(SHOP, "https://shop.example", "Shop")), base_url={"shop": "https://shop.example"})


def test_a_base_url_gets_the_path_of_its_own_api(two: TwoAPIs) -> None:
    """That of the server in the document, where it has none itself."""
    documents = {"shop": document(SHOP, "https://shop.example/v1", "Shop"), "crm": document(CRM, "/v2", "CRM")}
    two.shop.answer("GET", "/v1/orders", [{"customer_id": 7}])
    two.crm.answer("GET", "/v2/customers/7", {"name": "Ada"})
    origins = {"shop": two.shop.url.removesuffix("/v1"), "crm": two.crm.url.removesuffix("/v1")}
    run = Sandbox(combine(documents), base_url=origins).run(ACROSS)

    assert run.stdout == "Ada\n", run.error
    assert [call.url for call in run.calls] == [f"{origins['shop']}/v1/orders", f"{origins['crm']}/v2/customers/7"]


def test_a_simulated_api_has_both_in_one_world() -> None:
    """What one API's reply names exists in the other; each wants its own made-up credential."""
    protocol = combine(
        {"shop": document(SHOP, "https://shop.example/v1", "Shop"), "crm": document(CRM, "https://crm.example", "CRM")}
    )
    with Simulator(protocol, seed=3) as simulator:
        sandbox = Sandbox(protocol, base_url=simulator.base_urls, credentials=simulator.credentials)
        run = sandbox.run(ACROSS + "\nprint(len(crm__GET_orders()) > 0)")
        secrets = {sent.secrets() for sent in simulator.credentials}

    assert run.outcome == "ok", run.error
    assert len(secrets) == 2


def test_writes_of_each_api_can_be_simulated(two: TwoAPIs) -> None:
    """With `writes="simulate"` reads go to the real servers and a write to the simulated one, which has both APIs."""
    protocol = two.protocol
    program = "print(len(shop__GET_orders()), shop__POST_orders(customer_id=7)['customer_id'])"
    run = Sandbox(protocol, credentials=both(protocol), writes="simulate").run(program)

    assert run.stdout == "1 7\n", run.error
    assert [r.method for r in two.shop.requests] == ["GET"]
    assert [call.simulated for call in run.calls] == [False, True]


def test_a_journal_tells_equal_calls_of_two_apis_apart(two: TwoAPIs) -> None:
    """`GET /orders` of the shop is not replayed for `GET /orders` of the CRM."""
    protocol = two.protocol
    with Journal() as journal:
        sandbox = Sandbox(protocol, credentials=both(protocol), journal=journal)
        first = sandbox.run("print(shop__GET_orders()[0]['total'])")
        second = sandbox.run("print(shop__GET_orders()[0]['total'], crm__GET_orders()[0]['note'])")

    assert (first.stdout, second.stdout) == ("30\n", "30 late\n")
    assert [call.replayed for call in second.calls] == [True, False]


def test_an_agent_asks_several_apis(two: TwoAPIs, tmp_path: Path) -> None:
    """A mapping from names to documents is several APIs; a parsed document is one, as before."""
    files = {"shop": tmp_path / "shop.json", "crm": tmp_path / "crm.json"}
    files["shop"].write_text(json.dumps(document(SHOP, two.shop.url, "Shop")))
    files["crm"].write_text(json.dumps(document(CRM, two.crm.url, "CRM")))
    model = ScriptedModel(f"```python\n{ACROSS}\n```")
    auth = ["shop=bearer:env:SHOP_TOKEN", "crm=bearer:env:CRM_TOKEN"]
    with Agent.from_openapi(files, model=model, auth=auth) as agent:
        solution = agent.solve("What is the name of the customer of the first order?")

    assert solution.answer == "Ada", solution.message
    assert "crm__GET_customers_customer_id" in str(model.asked[0])
    assert two.crm.requests[0].headers["authorization"] == f"Bearer {CRM_TOKEN}"
    with Agent.from_openapi(document(SHOP, two.shop.url, "Shop")) as single:
        assert single.protocol.namespaces == ()


def test_a_server_that_two_documents_name_gets_the_credential_of_the_api_that_was_called(two: TwoAPIs) -> None:
    """Both APIs live at one server: the functions of each go with the token of each."""
    with LocalAPI() as server:
        server.answer("GET", "/orders", [])
        protocol = combine({"shop": document(SHOP, server.url, "Shop"), "crm": document(CRM, server.url, "CRM")})
        Sandbox(protocol, credentials=both(protocol)).run("shop__GET_orders(); crm__GET_orders()")

    tokens = [received.headers["authorization"] for received in server.requests]
    assert tokens == [f"Bearer {SHOP_TOKEN}", f"Bearer {CRM_TOKEN}"]


def test_an_api_that_cannot_be_had_is_named(two: TwoAPIs) -> None:
    """The shop answers and the CRM refuses: the solve ends with exit code 6 and says how to sign in there."""
    two.crm.answer("GET", "/customers/7", {"message": "who are you?"}, 401)
    with Agent(two.protocol, model=ScriptedModel(f"```python\n{ACROSS}\n```")) as agent:
        solution = agent.solve("What is the name of the customer of the first order?")

    assert solution.exit_code == 6, solution.message
    assert 'give credentials: auth=["crm=token:env:VARIABLE"]' in solution.message
