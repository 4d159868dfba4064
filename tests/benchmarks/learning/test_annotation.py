"""Solutions as training data: solved by a scripted model, exported in two forms, and split."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atc import Agent
from atc.agent import SIMULATED_NOW
from atc.apps.cli import main
from atc.models import Completion, Usage
from atc.models.base import ModelBase, ModelRequest
from atc.models.chat_format import role_prompt
from atc.options import SearchSettings
from benchmarks.learning.sft.conversations import read_conversation, renderer
from benchmarks.methods.formats.toolllama import read_message
from benchmarks.toolbench.corpus.queries import read_queries, served_protocol
from benchmarks.toolbench.server.catalogue import Catalogue
from benchmarks.toolbench.server.virtual_server import simulated_server

TIDE = 'get_tide_for_harbour_tides(port_code="ESB")'
SEARCH = (
    f"Thought: The tide is needed.\nAction: {TIDE}",
    "Thought: And the depth.\nAction: get_depth_for_harbour_tides()",
    'Thought: That is all.\nAction: finish(answer="High water is at noon.")',
)
REACT = ("--mode", "react", "--calls", "text")
DFSDT = ("--mode", "dfsdt", "--calls", "text")
PROGRAM = f'```python\ntide = {TIDE}\nprint("High water is at", tide["tide"]["at"])\n```'


def query(number: int, category: str = "Travel", tool: str = "Harbour Tides", relevant: str = "Get Tide") -> Any:
    """A query that lists two APIs of a tool."""
    shared = {"category_name": category, "tool_name": tool, "method": "GET", "optional_parameters": []}
    port = {"name": "Port Code", "type": "STRING", "description": "Its code", "default": "ESB"}
    template = {"tide": {"height": "float", "at": "str"}}
    return {
        "query": f"When is high water at pier {number}?",
        "query_id": number,
        "api_list": [
            {**shared, "api_name": "Get Tide", "required_parameters": [port], "template_response": template},
            {**shared, "api_name": "Get Depth", "required_parameters": []},
        ],
        "relevant APIs": [[tool, relevant]],
    }


def write(file: Path, *queries: object) -> Path:
    """A query file."""
    file.write_text(json.dumps(queries), "utf-8")
    return file


def annotate(*arguments: object) -> Result:
    """`atc toolbench annotate` with simulated APIs."""
    return CliRunner().invoke(main, ["toolbench", "annotate", "--simulate", "--json", *map(str, arguments)])


def solve(queries: Path, out: Path, *more: object) -> Result:
    """The same with a model on localhost."""
    return annotate(queries, "--out", out, "--model", "openai:scripted", *more)


def lines(file: Path) -> list[dict[str, Any]]:
    """The lines of an export."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


GIVEN_UP = "Thought: No.\nAction: give_up(reason='no way')"


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        (REACT, SEARCH),
        (DFSDT, (GIVEN_UP, *SEARCH)),
        (DFSDT, (SEARCH[0], GIVEN_UP, *SEARCH)),  # the first call is answered from the journal
    ],
)
def test_a_search_becomes_conversations(
    tmp_path: Path, endpoint: Callable[..., None], mode: tuple[str, ...], said: tuple[str, ...]
) -> None:
    """A step is a line that ends with the message to learn; branches that were left are not in it."""
    endpoint(*said)
    done = solve(write(tmp_path / "queries.json", query(3)), tmp_path / "out", *mode)

    assert done.exit_code == 0, done.output
    counted = json.loads(done.stdout)
    assert (counted["answered"], counted["passed"], counted["kept"], counted["calls"]) == (1, 1, 1, 2)
    assert (counted["mean_calls"], counted["mean_steps"]) == (2, 3)
    steps = json.loads((tmp_path / "out" / "toolllama.json").read_text())
    assert [step["id"].partition(":")[0] for step in steps] == ["Step 2", "Step 4", "Step 6"]
    assert [turn["from"] for turn in steps[1]["conversations"]] == [
        *("system", "user", "assistant", "function", "assistant")
    ]
    learned = read_message(steps[0]["conversations"][-1]["value"])
    assert (learned.thought, learned.name) == ("The tide is needed.", "get_tide_for_harbour_tides")
    last = read_message(steps[-1]["conversations"][-1]["value"])
    assert last.arguments == {"return_type": "give_answer", "final_answer": "High water is at noon."}


class ReadingModel(ModelBase):
    """Says the texts in turn, and keeps the prompts of the layout "roles" that it reads."""

    name = "reading"

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.prompts: list[str] = []

    def answer(self, request: ModelRequest) -> Completion:
        assert request.layout == "roles"
        self.prompts.append(role_prompt(request.messages))
        return Completion(self.texts.pop(0), Usage(1, 1, 1), "stop")

    def close(self) -> None:
        """There is nothing to close."""


class TokenizerEnd:
    """The part of a tokenizer that the layout "roles" asks for: an end token, and no beginning."""

    bos_token, eos_token = None, "</s>"

    def __call__(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": [1] * len(text)}


def test_what_is_trained_is_what_the_toolllama_format_shows(tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """With `layout: roles` an example is the prompt that `--format toolllama` gives the model, and its answer."""
    endpoint(*SEARCH)
    queries = write(tmp_path / "queries.json", query(3))
    solve(queries, tmp_path / "out", *REACT)
    steps = json.loads((tmp_path / "out" / "toolllama.json").read_text())
    answers = [step["conversations"][-1]["value"].removeprefix("\n") for step in steps]

    model = ReadingModel(*answers)
    with simulated_server(Catalogue([queries])) as server:
        protocol = served_protocol(read_queries(queries)[0], server.start())
        search = SearchSettings(format="toolllama")
        options: Any = {"base_url": protocol.servers[0].url, "mode": "react", "max_tools": "all", "search": search}
        with Agent(protocol, model=model, now=SIMULATED_NOW, **options) as agent:
            solution = agent.solve(query(3)["query"])

    assert solution.answer == "High water is at noon."
    render = renderer(TokenizerEnd(), "roles")
    for step, prompt, answer in zip(steps, model.prompts, answers, strict=True):
        conversation = read_conversation("the step", step)
        text = render("the step", conversation)
        assert text(conversation.turns[:-1], True) == prompt.removesuffix(" \n")
        assert text(conversation.turns, False) == f"{prompt}{answer}</s>"


def test_a_program_is_exported_with_the_first_prompt(tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """The triple has the records of the APIs; its messages are the agent's first prompt and the program."""
    endpoint(PROGRAM)
    out = tmp_path / "out"
    done = solve(write(tmp_path / "queries.json", query(1), query(2)), out, "--mode", "attribute")

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["lines"] == {"toolllama": 4, "program": 2}
    triple = lines(out / "program.jsonl")[0]
    assert triple["query"] == "When is high water at pier 1?"
    assert [record["api_name"] for record in triple["protocol"]] == ["Get Tide", "Get Depth"]
    assert triple["answer"].startswith("High water is at ")
    assert triple["messages"][-1]["content"] == PROGRAM
    assert "get_tide_for_harbour_tides" in triple["messages"][-2]["content"]


def test_only_passed_solutions_are_kept(tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """An answer without a call of a relevant API has not passed; a finished query is not asked again."""
    endpoint('Thought: I know that.\nAction: finish(answer="At noon.")')
    queries, out = write(tmp_path / "queries.json", query(1)), tmp_path / "out"
    passed = solve(queries, out, *REACT)
    endpoint("nothing of use")
    answered = solve(queries, out, *REACT, "--keep", "answered", "--format", "toolllama")

    assert json.loads(passed.stdout)["kept"] == 0
    counted = json.loads(answered.stdout)
    assert (counted["answered"], counted["passed"], counted["kept"]) == (1, 0, 1)
    assert counted["lines"] == {"toolllama": 1}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--server", "http://127.0.0.1:1", "--out", "out"], "--server URL or --simulate"),
        (["--format", "program", "--out", "out"], "--mode attribute"),
        (["--compat", "--out", "out"], "--calls toolllama:FILE"),
        ([], "Missing option '--out'"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, arguments: list[str], why: str) -> None:
    """The message names the option that is missing or too many."""
    queries = write(tmp_path / "queries.json", query(1))
    done = annotate(queries, *arguments)

    assert done.exit_code == 2
    assert why in done.output


# Splits


def split(folder: Path, distance: str, *files: Path, seed: int = 0) -> dict[str, list[dict[str, Any]]]:
    """The parts of a split, as they are in the files."""
    out = folder / f"{distance}{seed}"
    arguments = ["toolbench", "split", *map(str, files), "--by", distance, "--out", str(out), "--seed", str(seed)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return {part: json.loads((out / f"{part}.json").read_text()) for part in ("train", "dev", "test")}


def test_no_two_parts_share_what_they_are_split_by(tmp_path: Path) -> None:
    """Nothing is lost, equal texts stay together, ids of two files become different, and the seed matters."""
    first = write(tmp_path / "a.json", *(query(number, f"C{number % 10}", f"T{number % 20}") for number in range(40)))
    second = write(tmp_path / "b.json", *(query(number, f"C{number % 10}", f"T{number % 20}") for number in range(20)))
    keys: dict[str, Callable[[dict[str, Any]], Any]] = {
        "query": lambda entry: entry["query"],
        "tool": lambda entry: entry["api_list"][0]["tool_name"],
        "category": lambda entry: entry["api_list"][0]["category_name"],
    }
    for distance, key in keys.items():
        parts = split(tmp_path, distance, first, second)
        seen = [{key(entry) for entry in entries} for entries in parts.values()]

        assert sum(map(len, parts.values())) == 60
        assert all(seen) and not seen[0] & seen[1] | seen[0] & seen[2] | seen[1] & seen[2]
        assert len({entry["query_id"] for entries in parts.values() for entry in entries}) == 60
        assert len(read_queries(tmp_path / f"{distance}0" / "test.json")) == len(parts["test"])
        assert parts != split(tmp_path, distance, first, second, seed=1)


@pytest.mark.parametrize(
    ("listed", "others"),
    [
        (12, [{"query": f"{n}?", "query_id": n, "relevant APIs": [[f"T{n - 30}", "Find"]]} for n in range(38, 46)]),
        (9, [query(20 + number, "", f"T{number}") for number in range(9)]),
    ],
    ids=["not listed", "without a category"],
)
def test_a_tool_counts_by_its_name(tmp_path: Path, listed: int, others: list[dict[str, Any]]) -> None:
    """One that a query needs and does not list, or lists without a category, stays with all tools of its name."""
    entries = [*(query(number, f"C{number}", f"T{number}") for number in range(listed)), *others]
    file = write(tmp_path / "a.json", *entries)
    for distance in ("tool", "category"):
        parts = split(tmp_path, distance, file)
        tools = [
            {(entry.get("api_list") or [{"tool_name": entry["relevant APIs"][0][0]}])[0]["tool_name"] for entry in part}
            for part in parts.values()
        ]

        assert sum(map(len, parts.values())) == len(entries)
        assert all(tools) and not tools[0] & tools[1] | tools[0] & tools[2] | tools[1] & tools[2]


def test_queries_that_hang_together_cannot_be_split(tmp_path: Path) -> None:
    """All share a category: the message says so, and what to do."""
    file = write(tmp_path / "a.json", *(query(number) for number in range(10)))
    out = tmp_path / "out"
    done = CliRunner().invoke(main, ["toolbench", "split", str(file), "--by", "category", "--out", str(out)])

    assert done.exit_code == 2
    assert "10 of them share a category" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--dev", "nan"], "'nan' is no finite number"),
        (["--dev", "0.5", "--test", "0.5"], "below 1 together"),
        (["--out", "."], "train.json is one of the files to split, and would be overwritten"),
    ],
)
def test_a_split_that_cannot_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str], why: str
) -> None:
    """The source stays as it is."""
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path / "train.json", *(query(number) for number in range(10)))
    before = file.read_text()
    done = CliRunner().invoke(main, ["toolbench", "split", "train.json", "--by", "query", "--out", "parts", *more])

    assert done.exit_code == 2
    assert why in " ".join(done.stderr.split())
    assert file.read_text() == before
