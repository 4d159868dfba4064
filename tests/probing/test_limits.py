"""What a probe leaves alone and what it keeps: writes of its own, the model's budget, logs, stores, drawings, drift."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from click.testing import CliRunner

from atc.apps.cli import main
from probing.prober.findings import ProbeReport
from probing.prober.permission import WritePermission
from probing.prober.prober import Prober
from protocols import load
from protocols.choice import choose
from protocols.errors import UsageError
from protocols.model import Protocol
from sandbox import Limits, Sandbox
from tests.local_api import PREFIX, Answer, LocalAPI, Received
from tests.scripted import ScriptedModel

NOTES = {
    "openapi": "3.1.0",
    "info": {"title": "Notes", "version": "1"},
    "paths": {
        "/notes": {
            "get": {},
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"title": {"type": "string"}},
                                "required": ["title"],
                            }
                        }
                    },
                }
            },
        },
        "/notes/{note_id}": {
            "parameters": [{"name": "note_id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": {},
            "put": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {"schema": {"type": "object", "properties": {"title": {"type": "string"}}}}
                    },
                }
            },
            "delete": {},
        },
        "/notes/filter": {"post": {"summary": "Find notes by their words"}},
        "/notes/purge": {"post": {"summary": "Remove all old notes"}},
        "/notes/{note_id}/owner": {
            "parameters": [{"name": "note_id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": {},
        },
    },
}
"""An API without a word on responses."""

ODD = {"get": {"parameters": [{"name": "word", "in": "path", "required": True, "schema": {"type": "string"}}]}}
BEFORE = {1: "Buy milk", 2: "Call Ana"}
"""What is in the service before a probe: it is somebody's."""
SECRET = "tok-51f0c2aa90d7bb31c4"


class Notes(LocalAPI):
    """The service: notes by number."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: dict[int, dict[str, object]] = {number: _note(number, text) for number, text in BEFORE.items()}
        self.created = len(BEFORE)
        self.special: Callable[[Received], Answer | None] = lambda received: None
        """The answer to some requests in place of the usual one."""

    @property
    def protocol(self) -> Protocol:
        return load({**NOTES, "servers": [{"url": self.url}]})

    def next(self, received: Received) -> Answer:
        self.requests.append(received)
        if (answer := self.special(received)) is not None:
            return answer
        _, *parts = received.path.removeprefix(PREFIX).split("/")
        if parts == ["notes"]:
            return (
                self._make(received) if received.method == "POST" else Answer(200, {"notes": list(self.notes.values())})
            )
        if parts == ["notes", "filter"]:
            return Answer(200, {"notes": [self.notes[1]]})
        if parts == ["notes", "purge"]:
            self.notes.clear()
            return Answer(200, {})
        number = int(parts[1])
        if number not in self.notes:
            return Answer(404, {"detail": "no such note"})
        if parts[2:]:
            return Answer(200, {"owner": {"name": "Ana Bell", "email": "ana.bell@mail.example"}, "api_token": SECRET})
        if received.method == "DELETE":
            del self.notes[number]
            return Answer(204)
        if received.method == "PUT":
            self.notes[number].update(dict(received.json()))  # type: ignore[call-overload]
        return Answer(200, self.notes[number])

    def _make(self, received: Received) -> Answer:
        title = dict(received.json())["title"]  # type: ignore[call-overload]
        if title in [note["title"] for note in self.notes.values()]:
            return Answer(409, {"detail": "there is one of that title"})
        self.created += 1
        self.notes[self.created] = _note(self.created, title)
        return Answer(201, self.notes[self.created])


def _note(number: int, title: str) -> dict[str, object]:
    return {"note_id": number, "title": title, "done": False}


@pytest.fixture
def service() -> Iterator[Notes]:
    service = Notes()
    with service:
        yield service


def probe(
    service: Notes, writes: Literal["deny", "own", "all"] = "deny", reads: Sequence[str] = (), **settings: Any
) -> tuple[Prober, ProbeReport]:
    protocol = choose(service.protocol, reads=tuple(reads))
    permission = WritePermission(protocol, writes)
    with Sandbox(protocol, writes=permission, on_call=permission.observe, track=False) as sandbox:
        prober = Prober(protocol, settings.pop("model", None), sandbox, permission=permission, **settings)
        return prober, prober.probe()


def outcomes(prober: Prober) -> dict[str, str]:
    return {name: finding.outcome for name, finding in prober.findings.items()}


def test_nothing_is_written_by_default(service: Notes) -> None:
    prober, _ = probe(service)

    assert {request.method for request in service.requests} == {"GET"}
    assert outcomes(prober)["POST_notes"] == "refused_by_policy"
    assert "--read 'POST /notes/filter'" in prober.findings["POST_notes_filter"].reason
    assert "--read" not in prober.findings["POST_notes_purge"].reason


def test_what_only_reads_may_be_declared(service: Notes) -> None:
    prober, _ = probe(service, reads=["POST /notes/filter"])

    assert outcomes(prober)["POST_notes_filter"] == "documented"
    assert {request.path for request in service.requests if request.method != "GET"} == {f"{PREFIX}/notes/filter"}


def test_only_what_the_probe_made_is_changed_and_it_is_removed(service: Notes) -> None:
    """Objects that were there before stay as they were, and nothing is left behind; what has no undo is not called."""
    prober, report = probe(service, "own")

    outcome_of = outcomes(prober)
    assert {name: outcome_of[name] for name in ("POST_notes", "PUT_notes_note_id")} == dict.fromkeys(
        ["POST_notes", "PUT_notes_note_id"], "documented"
    )
    assert outcome_of["DELETE_notes_note_id"] == "no_content"
    assert outcome_of["POST_notes_purge"] == outcome_of["POST_notes_filter"] == "refused_by_policy"
    assert {number: note["title"] for number, note in service.notes.items()} == BEFORE
    assert report.left_behind == ()
    touched = {
        int(request.path.rsplit("/", 1)[1]) for request in service.requests if request.method in ("PUT", "DELETE")
    }
    assert touched
    assert touched.isdisjoint(BEFORE)


@pytest.mark.parametrize(
    "program",
    [
        "DELETE_notes_note_id(note_id=1)",
        "import requests\nrequests.delete('{url}/notes/1?note_id=3')",
        "import requests\nrequests.put('{url}/notes/1', json={{'note_id': 3, 'title': 'x'}})",
        "POST_notes(title='mine', note_id=1)",
    ],
)
def test_a_write_on_what_was_there_before_is_not_sent(service: Notes, program: str) -> None:
    """Whoever wrote the program, and whatever else it names: the sandbox asks of each call. Number 3 is the probe's."""
    permission = WritePermission(service.protocol, "own")
    with Sandbox(service.protocol, writes=permission, on_call=permission.observe) as sandbox:
        sandbox.run("GET_notes()\nPOST_notes(title='probe 0')")
        service.requests.clear()
        run = sandbox.run(program.format(url=service.url))

    assert [created.value for created in permission.created] == [3]
    assert run.outcome == "error"
    assert {number: service.notes[number]["title"] for number in BEFORE} == BEFORE
    assert not [request for request in service.requests if request.method in ("PUT", "DELETE", "POST")]


@pytest.mark.parametrize(
    ("answer", "status", "why"),
    [
        ({"author": {"note_id": 1}, "status": "created"}, 201, "holds no note_id"),
        ({"note_id": 1, "title": "Buy milk"}, 200, "may have been there before"),
        ({"note_id": 12, "title": "Buy milk"}, 200, "may have been there before"),
        ({"message": "created"}, 201, "holds no note_id"),
        ({"note_id": ""}, 201, "holds no note_id"),
        ({"error": "later"}, 503, "answered 503"),
    ],
)
def test_what_is_not_sure_to_be_of_its_own_is_left_alone(
    service: Notes, answer: dict[str, object], status: int, why: str
) -> None:
    """It may be somebody's, so it is neither changed nor removed; it is told, and nothing more is made."""
    reply = Answer(status, answer, {"Retry-After": "0"})
    service.special = lambda received: reply if received.method == "POST" else None
    _, report = probe(service, "own")

    assert {number: note["title"] for number, note in service.notes.items()} == BEFORE
    assert {request.method for request in service.requests} == {"GET", "POST"}
    assert len(report.left_behind) == 1
    assert why in report.left_behind[0]


def test_what_names_something_else_besides_is_not_called(service: Notes) -> None:
    """A comment of a note of ours may be somebody's, and another kind of thing may have the same number."""
    number = {"in": "path", "required": True, "schema": {"type": "integer"}}
    other_paths = {
        "/notes/{note_id}/comments/{comment_id}": {
            "parameters": [{"name": "note_id", **number}, {"name": "comment_id", **number}],
            "delete": {},
        },
        "/notes/{author_no}/lock": {"parameters": [{"name": "author_no", **number}], "post": {}},
        "/notes/{note_id}/send": {"parameters": [{"name": "note_id", **number}], "post": {}},
        "/notes/{note_id}/pin": {"parameters": [{"name": "note_id", **number}], "put": {}, "delete": {}},
    }
    protocol = load({**NOTES, "paths": {**NOTES["paths"], **other_paths}, "servers": [{"url": service.url}]})  # type: ignore[dict-item]
    permission = WritePermission(protocol, "own")

    assert permission.allows(protocol.tool("PUT_notes_note_id"))
    assert not permission.allows(protocol.tool("DELETE_notes_note_id_comments_comment_id"))
    assert not permission.allows(protocol.tool("POST_notes_author_no_lock"))
    assert not permission.allows(protocol.tool("POST_notes_note_id_send"))  # what was sent stays sent
    assert permission.allows(protocol.tool("PUT_notes_note_id_pin"))


def test_what_cannot_be_removed_is_told(service: Notes) -> None:
    refusal = Answer(403, {"detail": "kept for the archive"})
    service.special = lambda received: refusal if received.method == "DELETE" else None
    _, report = probe(service, "own")

    assert report.left_behind
    assert all(call.startswith("DELETE_notes_note_id(note_id=") for call in report.left_behind)


def test_a_model_is_asked_where_nothing_else_is_left(service: Notes) -> None:
    """What it was told of the failure is in the next prompt; its question and program become the usage example."""
    document = {**NOTES, "paths": {"/tags/{word}": ODD, "/notes": NOTES["paths"]["/notes"]}}  # type: ignore[index]
    protocol = load({**document, "servers": [{"url": service.url}]})

    def tags(received: Received) -> Answer | None:
        if "/tags/" not in received.path:
            return None
        good = received.path.endswith("/blue")
        return Answer(200, {"tag": "blue", "uses": 4}) if good else Answer(422, {"detail": "tags are colours"})

    service.special = tags
    wrong, right = (
        f"Question: How often is {word} used?\n```python\nprint(GET_tags_word(word='{word}'))\n```"
        for word in ("milk", "blue")
    )
    model = ScriptedModel(wrong, right)
    with Sandbox(protocol, writes="deny") as sandbox:
        prober = Prober(protocol, model, sandbox)
        report = prober.probe()
    finding = prober.findings["GET_tags_word"]

    assert (finding.outcome, finding.samples, finding.question) == ("documented", 2, "How often is blue used?")
    assert "tags are colours" in model.asked[1][-1].content
    assert (finding.prompt_tokens, finding.completion_tokens) == (200, 40)
    assert report.to_json()["totals"]["samples"] == 2


@pytest.mark.parametrize(
    ("answers", "settings", "outcome"),
    [
        (["I cannot help with that."] * 3, {}, "only_errors"),
        (["print(GET_notes())"], {"samples": 1}, "only_errors"),
        ([], {}, "model_failed"),
        (["nothing"], {"budget_tokens": 10}, "budget"),
    ],
)
def test_a_model_that_does_not_help(service: Notes, answers: list[str], settings: dict[str, Any], outcome: str) -> None:
    protocol = load({**NOTES, "paths": {"/tags/{word}": ODD}, "servers": [{"url": service.url}]})
    service.special = lambda received: Answer(422, {"detail": "tags are colours"})
    with Sandbox(protocol, writes="deny") as sandbox:
        prober = Prober(protocol, ScriptedModel(*answers), sandbox, **settings)
        prober.probe()

    assert prober.findings["GET_tags_word"].outcome == outcome


def test_a_probe_that_was_cut_off_goes_on(service: Notes, tmp_path: Path) -> None:
    """What was found out is not asked again, and the result is that of a probe that was never cut off."""
    log = tmp_path / "log"
    whole, _ = probe(service)
    request_count = len(service.requests)
    service.requests.clear()
    _, part = probe(service, log=log, budget_calls=3)
    assert part.ended
    assert log.stat().st_mode & 0o077 == 0, "nobody else may read it"
    with log.open("a") as file:
        file.write('{"tool": "GET_no')  # the line that was being written
    prober, report = probe(service, log=log)

    assert len(service.requests) <= request_count + 1
    assert report.requests == len(service.requests)
    assert {name: finding.schema for name, finding in prober.findings.items()} == {
        name: finding.schema for name, finding in whole.findings.items()
    }
    other_document = load({**NOTES, "info": {"title": "Other", "version": "1"}})
    with pytest.raises(UsageError, match="another document"), Sandbox(other_document, base_url=service.url) as sandbox:
        Prober(other_document, None, sandbox, log=log)


def test_what_was_made_at_one_service_is_not_removed_from_another(service: Notes, tmp_path: Path) -> None:
    """The log says where it is from; one that holds what is still to be removed is not thrown away, nor is a file that
    is no log."""
    spec, out = tmp_path / "notes.json", tmp_path / "out.yaml"
    spec.write_text(json.dumps({**NOTES, "servers": [{"url": service.url}]}))
    command = ["probe", str(spec), "-o", str(out), "--model", "none", "--writes", "own"]
    log = out.with_name("out.yaml.log")
    digest = load(spec).digest
    created_line = {"made": [{"undo": "DELETE_notes_note_id", "argument": "note_id", "value": 3}], "lost": []}
    log.write_text(
        f"{json.dumps({'protocol': digest, 'service': 'http://staging.example'})}\n{json.dumps(created_line)}\n"
    )
    refused_runs = [CliRunner().invoke(main, [*command, *options]) for options in (["--resume"], [])]
    log.write_text("my own notes\n")
    foreign_log = CliRunner().invoke(main, command)

    assert [result.exit_code for result in (*refused_runs, foreign_log)] == [2, 2, 2]
    assert "is of a probe of http://staging.example, and not of" in refused_runs[0].stderr
    assert "did not remove: go on with --resume" in refused_runs[1].stderr
    assert log.read_text() == "my own notes\n"
    assert {number: note["title"] for number, note in service.notes.items()} == BEFORE


def test_a_check_takes_no_options_that_it_would_not_heed(tmp_path: Path) -> None:
    (tmp_path / "out.yaml").write_text(json.dumps(NOTES))
    for option in (["--store", str(tmp_path / "s")], ["--iterations", "2"], ["--model", "none"]):
        refused = CliRunner().invoke(main, ["probe", "--check", str(tmp_path / "out.yaml"), *option])
        assert refused.exit_code == 2 and "--check only reads" in refused.stderr
        assert f"leave out {option[0]}" in refused.stderr


def test_the_log_names_the_service_without_its_secret(service: Notes, tmp_path: Path) -> None:
    """A password that stands in a base URL is no part of its name."""
    spec, out = tmp_path / "notes.json", tmp_path / "out.yaml"
    spec.write_text(json.dumps(NOTES))
    secret = service.url.replace("://", "://ada:hunter2@") + "?key=hunter3"
    CliRunner().invoke(main, ["probe", str(spec), "-o", str(out), "--model", "none", "--base-url", secret])

    assert [file.name for file in tmp_path.iterdir() if "hunter" in file.read_text()] == []


def test_drift_is_told(service: Notes, tmp_path: Path) -> None:
    """A field that is gone and one of another type break programs, a new one does not. No service is no drift."""
    spec, out = tmp_path / "notes.yaml", tmp_path / "out.yaml"
    spec.write_text(yaml.safe_dump({**NOTES, "servers": [{"url": service.url}]}))
    service.notes[3] = _note(3, "Read a book")
    assert CliRunner().invoke(main, ["probe", str(spec), "-o", str(out), "--model", "none"]).exit_code == 0
    check = ["probe", "--check", str(out), "--base-url", service.url, "--json"]

    unchanged = CliRunner().invoke(main, check)
    assert (unchanged.exit_code, json.loads(unchanged.stdout)) == (0, [])
    for note in service.notes.values():
        note["colour"] = "red"
    extended = CliRunner().invoke(main, check)
    assert extended.exit_code == 0, extended.output
    assert {(change["kind"], change["breaking"]) for change in json.loads(extended.stdout)} == {("new", False)}
    for note in service.notes.values():
        note["title"] = 7
        del note["done"]
    less = CliRunner().invoke(main, check)
    assert less.exit_code == 1
    changes = {(change["tool"], change["kind"], change["where"]) for change in json.loads(less.stdout)}
    assert ("GET_notes", "missing", '["notes"][0]["done"]') in changes
    assert ("GET_notes", "changed", '["notes"][0]["title"]') in changes
    down = CliRunner().invoke(main, ["probe", "--check", str(out), "--base-url", "http://127.0.0.1:9"])
    assert (down.exit_code, "cannot be reached" in down.stderr) == (6, True)


def test_a_busy_service_is_left_alone_for_as_long_as_it_asks(service: Notes) -> None:
    """Longer than a program may run; then the program that it would not answer is run again."""
    busy = Answer(429, {"detail": "slow down"}, {"Retry-After": "2"})
    service.special = lambda received: busy if len(service.requests) == 1 else None
    with Sandbox(service.protocol, track=False, limits=Limits(wall=1)) as sandbox:
        prober = Prober(service.protocol, None, sandbox, only=["GET_notes"])
        prober.probe()

    assert outcomes(prober)["GET_notes"] == "documented"
    assert prober.findings["GET_notes"].statuses == {"429": "slow down"}


def test_requests_that_are_sent_again_are_in_the_budget(service: Notes) -> None:
    service.special = lambda received: Answer(429, None, {"Retry-After": "0"})
    prober, _ = probe(service, budget_calls=3)

    assert len(service.requests) == prober.observations.requests == 3
    assert prober.findings["GET_notes"].outcome == "only_errors"
