"""`atc bench apibench`: a catalogue of our own, asked through an endpoint on localhost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atc.apps.cli import main
from atc.models.base import Completion, Usage
from benchmarks.apibench.apibench_run import api_request, grade, read_reply
from benchmarks.apibench.dataset import matching_call, read_apibench, read_calls_in
from tests.chat_endpoint import ChatEndpoint, serve, tool_call

HARBOUR = "torch.hub.load(repo_or_dir='sea/harbour', model='tide_small', pretrained=True)"
LARGE = "torch.hub.load(repo_or_dir='sea/harbour', model='tide_large', pretrained=True)"
BIRDS = "torch.hub.load(repo_or_dir='air/birds', model='song_net', pretrained=True, **{'top': 3})"
ODD = "torch.hub.load(repo_or_dir='air/ODD', 'odd', model='odd_b0', pretrained=True)"
WHOLE = "torch.hub.load(repo_or_dir='text/everything')"
LISTED = [read_calls_in(text)[0] for text in (HARBOUR, LARGE, BIRDS, ODD, WHOLE)]


def entry(domain: str, name: str, call: str, description: str) -> dict[str, Any]:
    """An API in the published form."""
    arguments = {"pretrained": "True"}
    shared = {"domain": domain, "framework": "PyTorch", "functionality": domain, "api_arguments": arguments}
    return {**shared, "api_name": name, "api_call": call, "description": description}


CATALOGUE = [
    entry("Forecast", "tide_small", HARBOUR, "A small network that predicts high water at a pier."),
    entry("Forecast", "tide_large", LARGE, "A large network for currents in the open ocean."),
    entry("Audio", "song_net", BIRDS, "Names the bird that sings in a recording."),
    entry("Images", "odd", ODD, "Sorts pictures of odd socks."),
]
QUESTIONS = [
    ("Which network predicts high water at my pier?", HARBOUR),
    ("Which bird sings in this recording?", BIRDS),
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The two files under `$ATC_DATA`."""
    folder = tmp_path / "data" / "apibench"
    folder.mkdir(parents=True)
    monkeypatch.setenv("ATC_DATA", str(folder.parent))
    (folder / "torchhub_api.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in CATALOGUE))
    questions = [
        {"code": f"###Instruction: {text}\n###Output: {{'domain': 'x'}}\n", "api_call": call}
        for text, call in QUESTIONS
    ]
    (folder / "torchhub_eval.json").write_text("".join(f"{json.dumps(line)}\n" for line in questions))
    return folder


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatEndpoint]:
    """An endpoint, asked as `openai:small`."""
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with serve() as state:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{state.url}")
        yield state


def select(served: ChatEndpoint, *calls: str) -> None:
    """Answer the next questions with calls of the function."""
    for call in calls:
        arguments = {"api_name": "a", "call": call, "description": "A model."}
        served.reply(None, tool_calls=[tool_call("1", "select_api", json.dumps(arguments))])


def run(out: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["bench", "apibench", "--model", "openai:small", "--out", str(out), *options])


@pytest.mark.parametrize(
    ("code", "place"),
    [
        (HARBOUR, 0),
        ("import torch\nnet = torch.hub.load('sea/harbour', 'tide_large')\nnet.eval()", 1),
        ('torch.hub.load("sea/harbour:v2", model="tide_small")', 0),
        (ODD, 3),
        ("torch.hub.load('air/ODD', 'odd', 'odd_b0', pretrained=True)", 3),
        ("torch.hub.load('text/everything', 'tokenizer')", 4),
        ("print(torch.hub.load('air/birds', model='song_net'))", 2),
        ("torch.hub.load('sea/harbour', 'tide_medium')", None),
        ("torch.hub.load('lake/harbour', 'tide_small')", None),
        ("hub.fetch('sea/harbour', 'tide_small')", None),
    ],
)
def test_a_call_is_an_api_of_the_catalogue_by_its_function_repository_and_models(code: str, place: int | None) -> None:
    """Positional or named, in a longer program or not, with a version or not; listed calls may be odd Python."""
    match = matching_call(read_calls_in(code), LISTED)

    assert (match and match[0]) == place


def test_a_call_is_exact_with_all_arguments_of_the_reference(files: Path) -> None:
    """The values of a literal `**{...}` count, wherever they stand; further arguments do no harm."""
    data = read_apibench()
    exact = "torch.hub.load('air/birds', 'song_net', top=3, pretrained=True, force_reload=True)"

    assert grade(data, 2, exact) == ("correct", True, True)
    assert grade(data, 2, exact.replace("top=3", "top=4")) == ("correct", False, True)
    assert grade(data, 2, HARBOUR) == ("wrong", False, False)
    assert grade(data, 0, LARGE) == ("wrong", False, True)
    assert grade(data, 0, "torch.hub.load('no/such', 'model')") == ("hallucinated", False, False)
    assert grade(data, 0, "load the harbour model") == ("unparseable", False, False)
    assert grade(data, 0, "") == ("unparseable", False, False)


def test_only_the_first_listed_call_counts(files: Path) -> None:
    """A reply that calls every API of the catalogue is right for one of them at most."""
    everything = "\n".join(call["api_call"] for call in CATALOGUE[:3])

    assert [grade(read_apibench(), place, everything)[0] for place in range(3)] == ["correct", "wrong", "wrong"]


@pytest.mark.parametrize(
    ("text", "call", "name"),
    [
        (f" song_net\n```python\n{BIRDS}\n```\nIt names birds.", BIRDS, "song_net"),
        (f" song_net\n```\n{BIRDS}", BIRDS, "song_net"),
        (f' {{"api_name": "song_net", "call": "{BIRDS}", "description": "b"}}', BIRDS, "song_net"),
        (f" song_net, which is {BIRDS}", "", ""),
    ],
)
def test_a_text_is_read_in_one_of_two_forms(text: str, call: str, name: str) -> None:
    """A fenced block after the name, or a JSON object; in any other text there is no call."""
    reply = read_reply(Completion(text, Usage(), "stop"), "API:")

    assert (reply.call, reply.api_name) == (call, name)


def test_a_text_model_continues_an_opened_answer(files: Path) -> None:
    """Models without functions are asked for a text; documents are one line each, and may be none."""
    catalogue = read_apibench().catalogue
    request = api_request("Which bird?", catalogue[2:3], functions=False)
    alone = api_request("Which bird?", (), functions=False)

    assert request.messages[-1].content == "API:"
    assert "```python" in request.messages[0].content
    assert BIRDS in request.messages[1].content
    assert alone.messages[1].content == "Question: Which bird?"


def test_a_run_is_scored_and_goes_on_where_it_was(files: Path, served: ChatEndpoint, tmp_path: Path) -> None:
    """Each answer is a file; the published rows stand below ours; with other documents the folder is refused."""
    out = tmp_path / "out"
    select(served, HARBOUR, "torch.hub.load('no/such', 'model')")
    first = run(out, "--limit", "1", "--json")
    whole = run(out, "--json")
    asked = len([request for request in served.requests if "messages" in request])
    again = run(out, "--json")
    printed = run(out).stdout
    refused = run(out, "--documents", "none")
    report = CliRunner().invoke(main, ["report", str(out)])

    assert report.exit_code == 0 and "right API, all arguments right" in report.stdout, report.output
    assert first.exit_code == whole.exit_code == again.exit_code == 0, first.output + whole.output
    assert json.loads(first.stdout)["accuracy"]["rate"] == 100
    figures = json.loads(whole.stdout)
    rates = {name: figures[name]["rate"] for name in ("accuracy", "exact", "hallucination", "wrong", "unparseable")}
    assert rates == {"accuracy": 50, "exact": 50, "hallucination": 50, "wrong": 0, "unparseable": 0}
    assert (figures["n"], figures["recall@1"]) == (2, None)
    assert json.loads(again.stdout) == figures == json.loads((out / "summary.json").read_text())
    assert len(served.requests) == asked
    assert all(
        text in printed for text in ("Gorilla-RS", "ours: openai:small", "hallucinated: no API of the catalogue")
    )
    stored = json.loads((out / "tasks" / "q2.json").read_text())
    assert (stored["reference"], stored["shown"], stored["grade"]["outcome"]) == (BIRDS, [BIRDS], "hallucinated")
    assert refused.exit_code == 2
    assert "results of other settings" in refused.stderr


def test_a_refused_conversation_is_no_call(files: Path, served: ChatEndpoint, tmp_path: Path) -> None:
    """Documents that are too long for a model cost it the question, not the run."""
    error = {"message": "too long", "code": "context_length_exceeded"}
    served.replies.append((400, {}, json.dumps({"error": error})))
    select(served, BIRDS)
    result = run(tmp_path / "out", "--json")

    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert (figures["unparseable"]["rate"], figures["accuracy"]["rate"]) == (50, 50)
    assert "too long" in json.loads((tmp_path / "out" / "tasks" / "q1.json").read_text())["reply"]["refused"]


def test_documents_come_from_a_retriever(
    files: Path, served: ChatEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nearest documents are shown, and recall tells whether the right one is among them.

    A folder of results that is called like the encoder is no encoder.
    """
    monkeypatch.chdir(tmp_path)
    select(served, HARBOUR, BIRDS)
    result, again = (run(Path("hybrid"), "--documents", "hybrid", "--top-k", "2", "--json") for _ in range(2))

    assert (result.exit_code, again.exit_code) == (0, 0), again.output
    figures = json.loads(result.stdout)
    assert (figures["recall@1"]["rate"], figures["recall@5"]["rate"]) == (100, 100)
    stored = json.loads((tmp_path / "hybrid" / "tasks" / "q2.json").read_text())
    assert (stored["shown"][0], len(stored["shown"])) == (BIRDS, 2)


def test_what_is_missing_is_named(
    files: Path, served: ChatEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown source of documents, a damaged line, missing files, and a misplaced name end with a remedy."""
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "home"))
    evaluation = files / "torchhub_eval.json"
    whole = evaluation.read_text()
    misplaced = CliRunner().invoke(main, ["bench", "--out", str(tmp_path / "x"), "apibench"])
    cases = [
        (misplaced, "write `atc bench apibench --out DIR`"),
        (run(tmp_path / "out", "--documents", "nearest"), "unknown encoder 'nearest'"),
        (run(tmp_path / "out", "--top-k", "3"), "--top-k is of a retriever, and --documents is gold"),
    ]
    for content, message in (
        ('{"code": "no question", "api_call": "f()"}\n\n', "line 1: this is no question"),
        (whole[:-50], "no JSON"),
        (None, "APIBench needs torchhub_api.jsonl and torchhub_eval.json"),
    ):
        evaluation.unlink() if content is None else evaluation.write_text(content)
        cases.append((run(tmp_path / "out"), message))

    assert not (tmp_path / "out").exists()
    for refused, message in cases:
        assert (refused.exit_code, message in " ".join(refused.stderr.split())) == (2, True), message


def test_the_published_files_are_read(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """94 APIs, each of which its own call matches; 186 questions, whose references are among them."""
    monkeypatch.setenv("ATC_DATA", str(data))
    published = read_apibench()

    assert (len(published.catalogue), len(published.questions)) == (94, 186)
    for place, listed_entry in enumerate(published.catalogue):
        assert grade(published, place, listed_entry.text) == ("correct", True, True)
