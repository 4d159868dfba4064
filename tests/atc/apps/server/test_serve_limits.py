"""What a key of `atc serve` may use for a question: limits of the server, of the key and of the client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from atc.apps.server.keys import read_keys
from protocols.errors import UsageError
from tests.atc.apps.server.serving import ALICE, Serving, start_serving
from tests.chat_endpoint import ChatEndpoint, completion, serve
from tests.local_api import LocalAPI, document

DORA = "dora-key-0123456789"
KEY = f"dora:{DORA} max_tokens=2000 max_seconds=30.5 max_cost=0.5 per_minute=99\n"
QUESTION = "What is the name of the city oslo?"
WRONG = 'print(GET_cities_city_id(city_id="oslo")["names"])'
RIGHT = 'print(GET_cities_city_id(city_id="oslo")["name"])'
TABLE = """currency: USD
date: 2026-05-01
source: an offer
models: {"openai:small": {prompt: 10, completion: 100}}
"""


@pytest.fixture(scope="module")
def model() -> Iterator[ChatEndpoint]:
    with serve() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def serving(model: ChatEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("serve")
    (folder / "prices.yaml").write_text(TABLE)
    with LocalAPI() as api:
        api.answer("GET", "/cities/oslo", {"id": "oslo", "name": "Oslo"})
        (folder / "weather.json").write_text(json.dumps(document(api.url)))
        options = ["--api", str(folder / "weather.json"), "--base-url", api.url, "--model", "openai:small"]
        options += ["--prices", str(folder / "prices.yaml"), "--max-tokens", "9000"]
        environment = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none"}
        with start_serving(folder, options, environment, more_keys=KEY) as serving:
            yield serving


def write(model: ChatEndpoint, *programs: str) -> None:
    """Answer with programs, each for 1,000 tokens read and 100 written."""
    model.replies.clear()
    for program in programs:
        body = completion(f"```python\n{program}\n```")
        body["usage"] = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
        model.replies.append((200, {}, json.dumps(body)))


def test_a_key_limits_its_questions(serving: Serving, model: ChatEndpoint) -> None:
    """At the limit the reply is the partial solution; a key without one goes on until it is answered."""
    write(model, WRONG, RIGHT)
    with serving.client(DORA) as client:
        stopped = client.post("/v1/solve", json={"query": QUESTION})
    write(model, WRONG, RIGHT)
    with serving.client(ALICE) as client:
        answered = client.post("/v1/solve", json={"query": QUESTION}).json()
        figures = client.get("/metrics").text

    solution = stopped.json()
    assert (stopped.status_code, solution["status"], solution["limit"]) == (200, "limit", "max_tokens")
    assert solution["message"].startswith("stopped at 1,100 of 2,000 tokens (--max-tokens)")
    assert (len(solution["attempts"]), solution["cost"]) == (1, pytest.approx(0.02))
    assert (answered["answer"], answered["cost"]) == ("Oslo", pytest.approx(0.04))
    cost = next(line for line in figures.splitlines() if line.startswith("atc_model_cost_usd_total"))
    assert float(cost.partition(" ")[2]) == pytest.approx(0.06)


def test_a_client_may_ask_for_less_and_not_for_more(serving: Serving, model: ChatEndpoint) -> None:
    """Less holds, in the background too; more is refused with its field, and so is what is no limit."""
    write(model, WRONG, RIGHT)
    request = {"query": QUESTION, "max_tokens": 1500, "background": True}
    with serving.client(DORA) as client:
        accepted = client.post("/v1/solve", json=request, headers={"Idempotency-Key": "less"})
        again = client.post("/v1/solve", json=request, headers={"Idempotency-Key": "less"})
        solution = serving.ended(accepted.json()["id"], DORA)["solution"]
        refused = [
            client.post("/v1/solve", json={"query": QUESTION, **more})
            for more in ({"max_tokens": 2001}, {"max_seconds": 31}, {"max_cost": 1.0}, {"max_tokens": 0})
        ]
    with serving.client(ALICE) as client:
        refused.append(client.post("/v1/solve", json={"query": QUESTION, "max_tokens": 9001}))

    assert (accepted.status_code, again.json()) == (202, accepted.json())
    assert solution["message"].startswith("stopped at 1,100 of 1,500 tokens")
    assert [reply.status_code for reply in refused] == [422] * 5
    assert [reply.json()["error"]["field"] for reply in refused] == [
        *("max_tokens", "max_seconds", "max_cost", "max_tokens", "max_tokens")
    ]
    assert refused[0].json()["error"]["message"] == "max_tokens: at most 2000, which is the limit here"


def test_limits_stand_in_the_key_file(tmp_path: Path) -> None:
    """What is no limit is told with its line."""
    file = tmp_path / "keys"
    file.write_text(KEY)
    client = read_keys(file).client(f"Bearer {DORA}")
    assert client is not None
    assert (client.per_minute, client.limits.max_tokens) == (99, 2000)
    assert (client.limits.max_seconds, client.limits.max_cost) == (30.5, 0.5)
    for word in ("max_tokens=0", "max_tokens=1.5", "max_cost=-1", "max_cost=nan", "max_seconds=", "tokens=5"):
        file.write_text(f"# keys\ndora:dora-key-0123456789 {word}\n")
        with pytest.raises(UsageError, match=r"line 2: after the key of dora come only .* each above 0"):
            read_keys(file)


def test_a_key_with_a_limit_of_cost_needs_a_price(tmp_path: Path, films: Path) -> None:
    """The server does not start, and says how to add one."""
    (tmp_path / "keys").write_text("dora:dora-key-0123456789 max_cost=0.5\n")
    command = ["serve", "--api", str(films), "--simulate", "--model", "openai:nobody-knows"]
    command += ["--key-file", str(tmp_path / "keys"), "--journal", str(tmp_path / "journal")]
    result = CliRunner().invoke(main, command)

    assert (result.exit_code, "openai:nobody-knows has no price" in result.stderr) == (2, True), result.stderr
