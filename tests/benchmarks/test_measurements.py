"""The measurements of `benchmarks/micro`, on cases small enough to work out by hand, and on what was recorded.

Right programs are counted as accepted only if they run as they are and the answer is theirs.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.micro import sources, tool_calling
from benchmarks.micro.acceptance import StandIn, read_file, solve
from protocols import UsageError, load

RECORDED = Path(__file__).resolve().parents[2] / "benchmarks" / "data" / "recorded"
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Ferries", "version": "1"},
    "servers": [{"url": "https://ferries.example/v2"}],
    "paths": {
        "/ferries": {"get": {"responses": {"200": {"description": "", "content": {"application/json": {}}}}}},
        "/ferries/{ferry_id}/notes": {
            "post": {
                "parameters": [{"name": "ferry_id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"text": {"type": "string"}},
                                "required": ["text"],
                            }
                        }
                    }
                },
                "responses": {"200": {"description": ""}},
            }
        },
    },
}
FILE = """
document: ferries.yaml
replies:
  - call: GET /ferries
    reply: {ferries: [{id: f1, name: Ada}, {id: f2, name: Bee}]}
  - call: GET /ferries?page=2
    reply: {ferries: []}
programs:
  - question: How many ferries are there?
    program: |
      print(len(GET_ferries()["ferries"]))
  - question: Note "late" on the ferry Bee.
    program: |
      bee = next(ferry for ferry in GET_ferries()["ferries"] if ferry["name"] == "Bee")
      print(POST_ferries_ferry_id_notes(ferry_id=bee["id"], text="late")["id"])
    replies:
      - call: POST /ferries/f2/notes
        body: {text: late}
        replies: [{id: n1}, {id: n2}]
  - question: How many ferries are there, really?
    program: |
      print(len(GET_ferries()["ships"]))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "ferries.yaml").write_text(FILE)
    return tmp_path / "ferries.yaml"


def test_a_right_program_is_accepted_and_a_wrong_one_is_broken(file: Path) -> None:
    document, tasks = read_file(file)
    protocol = load(DOCUMENT)

    results = [solve(protocol, task, "large") for task in tasks]

    assert document == "ferries.yaml"
    assert [row["accepted"] for row in results] == [True, True, False]
    assert [row["altered"] for row in results] == [False, False, False]
    assert [bool(row["broken"]) for row in results] == [False, False, True]


def test_the_reply_that_says_most_about_a_request_is_sent(file: Path) -> None:
    """Bodies are sent in order, the last one again; an unknown request is noted."""
    _, tasks = read_file(file)
    service = StandIn(tasks[1].replies)

    assert service.answer("GET", "/ferries?page=2", None) == (200, {"ferries": []})
    assert [service.answer("POST", "/ferries/f2/notes", {"text": "late", "by": 1})[1] for _ in range(3)] == [
        {"id": "n1"},
        {"id": "n2"},
        {"id": "n2"},
    ]
    assert service.answer("POST", "/ferries/f2/notes", {"text": "early"})[0] == 404
    assert service.unknown == ["POST /ferries/f2/notes"]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("programs: 7")

    with pytest.raises(UsageError, match=r"bad\.yaml cannot be read"):
        read_file(tmp_path / "bad.yaml")


def test_told_sources_are_judged_by_labels(data: Path) -> None:
    """Of documents that were read while the rules were written, nearly all sources are true."""
    result = CliRunner().invoke(sources.main, [str(data / "restbench"), "--json"])
    read = json.loads(result.stdout)["read"]

    assert read["true"] >= 0.97 * read["told"] > 40
    assert "figma.yaml is left out" in result.stderr


def test_a_folder_without_documents_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(sources.main, [str(tmp_path)])

    assert result.exit_code == 1
    assert "has none of" in result.stderr


@pytest.mark.parametrize(("record", "options"), [("services-tools", ()), ("services-code", ("--code",))])
def test_recorded_answers_give_the_same_figures(record: str, options: tuple[str, ...]) -> None:
    """The published row of the questions about services comes out of the record, without the model."""
    pytest.importorskip("fastmcp")
    model = f"replay:{RECORDED / record}.jsonl.gz"
    result = CliRunner().invoke(tool_calling.main, ["--model", model, "--limit", "4", "--json", *options])
    figures = json.loads(result.stdout)

    assert (figures["right"], figures["tasks"]) == (4, 4)
    assert figures["prompt_tokens"] > 1_000
