"""Limits of a question: tokens, seconds and dollars, over real HTTP to a model and to a service."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atc import Agent, costs
from atc.apps.cli import main
from atc.costs import read_prices
from atc.models import Completion, Usage
from atc.models.base import ModelBase, ModelRequest
from atc.solution_file import read_solution
from sandbox import Journal
from tests.chat_endpoint import ChatEndpoint, completion, serve
from tests.local_api import Answer, LocalAPI, Received, document

QUESTION = 'Post the alert "storm" of level 2. Which level does it have?'
BROKEN = 'alert = POST_alerts(text="storm", level=2)\nprint(alert["lvl"])'
GOOD = 'alert = POST_alerts(text="storm", level=2)\nprint(alert["level"])'
READ = 'print(GET_cities(query="Oslo")["results"][0]["population"])'
SIGNED = 'print(GET_cities(query="Oslo")["results"][9]["population"])'
HOW_MANY = "How many people live in Oslo?"
TABLE = """currency: USD
date: 2026-05-01
source: an offer
models:
  "openai:small": {prompt: 10, cached: 1, completion: 100}
"""


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatEndpoint]:
    monkeypatch.chdir(tmp_path)
    with serve() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        yield endpoint


def write(endpoint: ChatEndpoint, *programs: str, prompt: int = 1000, written: int = 100, finish: str = "stop") -> None:
    """Answer with programs; each request counts so many tokens, of which none are cached."""
    for program in programs:
        body = completion(f"```python\n{program}\n```", finish)
        body["usage"] = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
        endpoint.replies.append((200, {}, json.dumps(body)))


def solve(api: LocalAPI, query: str, *options: object) -> Result:
    """What `atc solve` does with a question and options."""
    Path("spec.json").write_text(json.dumps(document(api.url)), encoding="utf-8")
    command = ["solve", query, "--api", "spec.json", "--model", "openai:small", "--writes", "allow"]
    return CliRunner().invoke(main, [*command, *map(str, options)])


def resume(*options: object) -> Result:
    return CliRunner().invoke(main, ["solve", "--resume", "solve.journal", *map(str, options)])


def posts(api: LocalAPI) -> int:
    return sum(request.method == "POST" for request in api.requests)


# --- tokens


def test_a_solve_that_reached_a_limit_goes_on_with_a_larger_one(towns: LocalAPI, model: ChatEndpoint) -> None:
    """Exit 4, the limit and what was used; that counts later, and no write and no request is repeated."""
    write(model, BROKEN, GOOD)
    stopped = solve(towns, QUESTION, "--max-tokens", 1500, "--journal", "solve.journal", "--out", "stopped.json")
    again = resume()
    finished = resume("--max-tokens", 3000, "--out", "out.json")
    partial, solution = read_solution(Path("stopped.json")), read_solution(Path("out.json"))

    assert "stopped at 1,100 of 1,500 tokens (--max-tokens); the next request needs about " in stopped.stderr
    assert "atc solve --resume solve.journal goes on from here, with a larger --max-tokens" in stopped.stderr
    assert (partial.status, partial.limit, len(partial.attempts)) == ("limit", "max_tokens", 1)
    assert (again.exit_code, "stopped at 1,100 of 1,500 tokens" in again.stderr) == (4, True)
    assert (finished.exit_code, finished.stdout) == (0, "2\n")
    assert (posts(towns), len(model.requests)) == (1, 2)
    assert (solution.usage.prompt_tokens, solution.usage.completion_tokens) == (2000, 200)
    assert resume().stdout == "2\n"


def test_an_answer_is_no_longer_than_what_is_left(towns: LocalAPI, model: ChatEndpoint) -> None:
    """The request says so; an answer that is cut by it ends the solve, is paid for, and is asked for again."""
    write(model, BROKEN[:20], prompt=800, written=200, finish="length")
    write(model, GOOD, prompt=800)
    stopped = solve(towns, QUESTION, "--max-tokens", 1400, "--journal", "solve.journal")
    finished = resume("--max-tokens", 9000, "--out", "out.json")

    assert model.requests[0]["max_tokens"] < 1400 - 0.3 * len(str(model.requests[0]["messages"])) + 100
    assert "stopped at 1,000 of 1,400 tokens (--max-tokens), in the middle of the model's answer" in stopped.stderr
    assert (stopped.exit_code, finished.exit_code, posts(towns)) == (4, 0, 1)
    assert read_solution(Path("out.json")).usage.prompt_tokens == 1600
    assert model.requests[1]["max_tokens"] > model.requests[0]["max_tokens"]


def test_nothing_is_asked_that_cannot_be_afforded(towns: LocalAPI, model: ChatEndpoint) -> None:
    """The first prompt alone is larger than the limit: no request is sent."""
    result = solve(towns, HOW_MANY, "--max-tokens", 60)

    assert (result.exit_code, model.requests) == (4, [])
    assert "stopped at 0 of 60 tokens (--max-tokens); the next request needs about " in result.stderr


def test_an_endpoint_that_does_not_count_is_estimated(towns: LocalAPI, model: ChatEndpoint) -> None:
    """A limit holds though no usage comes; the cost is then not known, and not said to be nothing."""
    Path("prices.yaml").write_text(TABLE)
    write(model, *[SIGNED] * 9, prompt=0, written=0)
    result = solve(towns, HOW_MANY, "--max-tokens", 2500, "--prices", "prices.yaml", "--json")
    solution = json.loads(result.stdout)

    assert result.exit_code == 4, result.stderr
    assert 1 <= len(model.requests) < 4
    assert (solution["limit"], solution["cost"]) == ("max_tokens", None)


class CountingModel(ModelBase):
    """Answers anything, and keeps the most tokens that it was asked for; each request reads 900 and writes 50."""

    name, profile = "counting", "small"
    calls_functions = False

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []

    def answer(self, request: ModelRequest) -> Completion:
        self.requests.append(request)
        text = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return Completion(text, Usage(900, 50, 0, 1, 0.0), "stop")

    def close(self) -> None:
        """Nothing to close."""


@pytest.mark.parametrize("mode", ["naive@3", "react", "codeact", "dfsdt", "restgpt", "conagents"])
def test_every_mode_holds_its_limit(towns: LocalAPI, mode: str) -> None:
    """Whatever asks the model: nothing is asked for beyond the limit, and the solve ends with it."""
    model = CountingModel(SIGNED, 'Thought: look\nAction: GET_cities(query="Oslo")')
    solution = Agent(towns.protocol, model, mode, max_tokens=4000).solve(HOW_MANY)

    assert (solution.status, solution.limit) == ("limit", "max_tokens"), solution.message
    assert 1 <= len(model.requests) <= 4
    assert solution.attempts


def test_recorded_answers_count_as_they_did(towns: LocalAPI, model: ChatEndpoint) -> None:
    """A record that was made without a limit is played with one, and costs what it cost."""
    Path("prices.yaml").write_text(TABLE)
    write(model, BROKEN, GOOD)
    assert solve(towns, QUESTION, "--record", "answers.jsonl").exit_code == 0
    replay = ("--model", "replay:answers.jsonl", "--prices", "prices.yaml", "--json")
    stopped = json.loads(solve(towns, QUESTION, *replay, "--max-tokens", 1500).stdout)
    nearly = json.loads(solve(towns, QUESTION, *replay, "--max-tokens", 3000).stdout)

    assert (stopped["limit"], stopped["cost"]) == ("max_tokens", pytest.approx(0.02))
    assert (nearly["answer"], nearly["cost"]) == ("2", pytest.approx(0.04))


def test_a_solve_goes_on_with_larger_limits_of_calls(towns: LocalAPI, model: ChatEndpoint) -> None:
    """`--max-calls` and `--max-model-calls` are taken beside `--resume`, and the message says that it can go on."""
    twice = f"{READ}\n{READ}"
    write(model, twice, twice, twice)
    options = ("--max-calls", 1, "--max-model-calls", 1, "--journal", "solve.journal")
    stopped = solve(towns, HOW_MANY, *options)
    same = resume()
    finished = resume("--max-calls", 9, "--max-model-calls", 5, "--call-timeout", 20)

    assert stopped.exit_code == 4, stopped.stderr
    assert "atc solve --resume solve.journal goes on from here, with the larger limit that it names" in stopped.stderr
    assert same.exit_code == 4
    assert (finished.exit_code, finished.stdout) == (0, "717710\n717710\n"), finished.stderr
    assert resume().stdout == "717710\n717710\n"


# --- dollars


def test_what_a_solve_cost_is_told(towns: LocalAPI, model: ChatEndpoint) -> None:
    """By the table: cached tokens apart; on the terminal, in the solution, on its page and in its file."""
    Path("prices.yaml").write_text(TABLE)
    model.text = f"```python\n{READ}\n```"
    result = solve(towns, HOW_MANY, "--prices", "prices.yaml", "--out", "out.json")
    CliRunner().invoke(main, ["trace", "out.json", "-o", "page.html"])

    assert result.stderr.splitlines()[-1].endswith(" · $0.0015")
    assert read_solution(Path("out.json")).cost == pytest.approx((20 * 10 + 100 * 1 + 12 * 100) / 1e6)
    assert "· $0.0015" in Path("page.html").read_text()


def test_the_cost_of_an_unknown_model_is_none_and_of_ones_own_nothing(towns: LocalAPI) -> None:
    """No price is made up."""
    model = CountingModel(READ)
    assert Agent(towns.protocol, model).solve(HOW_MANY).cost is None
    model.name = "local:small"
    assert Agent(towns.protocol, model, max_cost=0.01).solve(HOW_MANY).cost == 0.0


def test_a_limit_of_cost_ends_a_solve(towns: LocalAPI, model: ChatEndpoint) -> None:
    """1,000 tokens read and 100 written cost two cents; with three there is no second request."""
    Path("prices.yaml").write_text(TABLE)
    write(model, BROKEN, GOOD)
    options = ("--max-cost", 0.03, "--prices", "prices.yaml", "--journal", "solve.journal")
    stopped = solve(towns, QUESTION, *options)
    finished = resume("--max-cost", "0.1", "--json")

    assert stopped.exit_code == 4
    assert "stopped at $0.02 of $0.03 (--max-cost); the next request costs at least $0.0" in stopped.stderr
    assert model.requests[0]["max_tokens"] < 300
    assert (json.loads(finished.stdout)["cost"], posts(towns)) == (pytest.approx(0.04), 1)


def test_a_model_without_a_price_is_refused_with_the_remedy(towns: LocalAPI, model: ChatEndpoint) -> None:
    """Exit 2 before anything is asked; the same for a table in another currency."""
    result = solve(towns, HOW_MANY, "--max-cost", 1)
    Path("prices.yaml").write_text(TABLE.replace("USD", "EUR"))
    euros = solve(towns, HOW_MANY, "--prices", "prices.yaml")

    assert (result.exit_code, model.requests) == (2, [])
    assert "openai:small has no price, and --max-cost needs one: name a table with --prices FILE" in result.stderr
    assert (euros.exit_code, "prices.yaml is in EUR" in euros.stderr) == (2, True)


def test_the_table_of_atc_passes_the_check_of_others() -> None:
    """It is read without that check, as each solve reads it."""
    assert read_prices(Path(costs.__file__).with_name("prices.yaml")) == read_prices()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("prompt: 10", "prompt: -1"), "line 5: models.openai:small.prompt: -1 is less than the minimum of 0"),
        (("prompt: 10", "prompt: .nan"), "line 5: models.openai:small.prompt: nan is no price"),
        (("prompt: 10", "prompt: ten"), "line 5: models.openai:small.prompt: 'ten' is not of type 'number'"),
        (("prompt: 10", "read: 10"), "line 5: models.openai:small: "),
        (("date: 2026-05-01\n", ""), "line 1: 'date' is a required property"),
        (("{prompt", "{: {prompt"), "line 5: it is no YAML: "),
    ],
)
def test_a_broken_table_is_told_with_its_line(
    towns: LocalAPI, model: ChatEndpoint, change: tuple[str, str], message: str
) -> None:
    Path("prices.yaml").write_text(TABLE.replace(*change))
    result = solve(towns, HOW_MANY, "--prices", "prices.yaml")

    assert (result.exit_code, f"prices.yaml: {message}" in result.stderr) == (2, True), result.stderr


# --- seconds


def test_a_request_that_nobody_waited_for_is_not_free(towns: LocalAPI) -> None:
    """A limit of seconds ends it; its prompt counts by the estimate, its cost is not known, then and later."""
    release = threading.Event()

    class Slow(CountingModel):
        name = "openai:gpt-4.1"

        def answer(self, request: ModelRequest) -> Completion:
            release.wait(20)
            return super().answer(request)

    with Journal() as journal:
        stopped = Agent(towns.protocol, Slow(READ), max_seconds=0.5).solve(HOW_MANY, journal=journal)
        release.set()
        finished = Agent(towns.protocol, Slow(READ)).solve(HOW_MANY, journal=journal)
    whole = Agent(towns.protocol, Slow(READ)).solve(HOW_MANY)

    assert re.match(r"stopped at [\d.]+ of 0\.5 seconds \(max_seconds=…\)", stopped.message)
    assert (stopped.limit, stopped.cost, stopped.usage.model_calls) == ("max_seconds", None, 1)
    assert (finished.status, finished.cost, finished.usage.model_calls) == ("answered", None, 2)
    assert finished.usage.prompt_tokens == stopped.usage.prompt_tokens + 900 > 1000
    assert whole.cost


def test_a_killed_solve_knows_of_its_open_request(towns: LocalAPI) -> None:
    """What was sent before the process ended counts by the estimate."""

    class Killed(CountingModel):
        def answer(self, request: ModelRequest) -> Completion:
            raise SystemExit  # nothing is noted after it, as at a kill

    with Journal() as journal:
        with pytest.raises(SystemExit):
            Agent(towns.protocol, Killed(READ)).solve(HOW_MANY, journal=journal)
        solution = Agent(towns.protocol, CountingModel(READ)).solve(HOW_MANY, journal=journal)

    assert (solution.status, solution.usage.model_calls) == ("answered", 2)
    assert solution.usage.prompt_tokens > 1000


@pytest.mark.parametrize("mode", ["attribute", "react", "codeact"])
def test_a_limit_of_seconds_ends_a_program(towns: LocalAPI, mode: str) -> None:
    """The run is in the solution, and what is noted in a journal goes on with the same limit."""
    towns.script("GET", "/cities", Answer(200, {"results": []}, wait=9))
    said = 'Thought: look\nAction: GET_cities(query="Oslo")' if mode == "react" else READ
    with Journal() as journal:
        agent = Agent(towns.protocol, CountingModel(said), mode, max_seconds=1.0)
        solution = agent.solve(HOW_MANY, journal=journal)
        assert (solution.status, solution.limit, len(solution.attempts)) == ("limit", "max_seconds", 1)
        if mode == "attribute":
            towns.answer("GET", "/cities", {"results": [{"population": 717710}]})
            assert agent.solve(HOW_MANY, journal=journal).answer == "717710"


def test_the_time_of_a_person_does_not_count(towns: LocalAPI) -> None:
    """Whoever confirms a write may take longer than the question."""

    def confirm(_: object) -> bool:
        time.sleep(1.2)
        return True

    model = CountingModel(GOOD)
    agent = Agent(towns.protocol, model, writes="ask", confirm=confirm, max_seconds=1.1)
    planned = Agent(towns.protocol, model, writes="plan", confirm_plan=confirm, max_seconds=1.6)

    assert agent.solve(QUESTION).answer == "2"
    assert planned.solve(QUESTION).answer == "2"


# --- kill, chats, configuration


def test_a_solve_that_was_killed_goes_on_within_its_limits(towns: LocalAPI, model: ChatEndpoint) -> None:
    """Its journal has the limits and what was used: the write is made once, and the second request is refused."""
    held = threading.Event()

    def search(received: Received) -> Answer:
        wait = 0 if held.is_set() else 5
        held.set()
        return Answer(200, {"results": []}, wait=wait)

    towns.respond("GET", "/cities", search)
    write(model, BROKEN.replace("print", 'GET_cities(query="Oslo")\nprint'), GOOD)
    Path("spec.json").write_text(json.dumps(document(towns.url)), encoding="utf-8")
    command = [sys.executable, "-c", "from atc.apps.cli import main; main()", "solve", QUESTION, "--api", "spec.json"]
    command += ["--model", "openai:small", "--writes", "allow", "--journal", "solve.journal", "--max-tokens", "1500"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        assert held.wait(30)
        os.kill(process.pid, signal.SIGKILL)
    stopped, finished = resume(), resume("--max-tokens", 4000)

    assert stopped.exit_code == 4, stopped.stderr
    assert "stopped at 1,100 of 1,500 tokens (--max-tokens)" in stopped.stderr
    assert (len(model.requests), posts(towns)) == (2, 1)
    assert (finished.exit_code, finished.stdout) == (0, "2\n")


def test_each_question_of_a_chat_has_its_limit(towns: LocalAPI, tmp_path: Path) -> None:
    """One that reached it goes on when it is asked again, and repeats no write; the next one has all of it."""
    model = CountingModel(BROKEN, READ)
    settings: dict[str, Any] = {"writes": "allow", "ablate": ["check"]}
    little = Agent(towns.protocol, model, max_tokens=1800, **settings)
    enough = Agent(towns.protocol, model, max_tokens=9000, **settings)
    with little.chat() as chat:
        stopped, other = chat.ask(QUESTION), chat.ask(HOW_MANY)
    assert (stopped.limit, other.answer, posts(towns)) == ("max_tokens", "717710", 1)

    model.answers = [BROKEN, GOOD]
    with little.chat(tmp_path / "chat.journal") as chat:
        assert chat.ask(QUESTION).limit == "max_tokens"
    with enough.chat(tmp_path / "chat.journal") as chat:
        assert chat.ask(QUESTION).answer == "2"
    assert posts(towns) == 2


@pytest.mark.parametrize(
    "options",
    [
        *(("--max-tokens", value) for value in ("0", "1.5")),
        *(("--max-seconds", value) for value in ("nan", "inf")),
        ("--max-cost", "-1"),
        ("--prices", "nowhere.yaml"),
    ],
)
def test_what_is_no_limit_is_refused(towns: LocalAPI, model: ChatEndpoint, options: tuple[str, str]) -> None:
    result = solve(towns, HOW_MANY, *options)
    assert (result.exit_code, model.requests) == (2, []), result.stderr
    assert options[0] in result.stderr
