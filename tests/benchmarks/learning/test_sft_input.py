"""What `atc train sft` is given and cannot use: settings, data, bases, and damaged files of a run."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.learning.sft.settings import CONFIGS, read_config
from protocols.errors import ATCError, ModelError, UsageError
from tests.benchmarks.learning.tuning import changes, tune

ROOT = Path(__file__).resolve().parents[3]


def _bad_inputs() -> Iterator[tuple[str, dict[str, object], type[ATCError], str]]:
    yield "no data", {"data": "missing.jsonl"}, UsageError, "there is no data file missing.jsonl"
    yield "empty data", {"data": "EMPTY"}, UsageError, "no example to train on"
    yield "no messages", {"data": "WRONG"}, UsageError, 'line 1: a conversation is {"messages"'
    yield "cut line", {"data": "CUT"}, UsageError, "line 2: no JSON"
    yield "half a character", {"data": "HALF"}, UsageError, "line 1: message 1: character 1 of its content is half a"
    yield "tool calls", {"data": "CALLED"}, UsageError, "line 1: message 1: tool calls are not trained on"
    yield "dev is data", {"dev": "SAME"}, UsageError, "dev and data are the same file"
    yield "no base", {"base": "./nowhere"}, ModelError, "there is no model folder nowhere"
    yield "unknown field", {"learning": 1}, UsageError, "no field 'learning'"
    yield "wrong batch", {"batch": 3}, UsageError, "must be a multiple of micro_batch"
    yield "too long", {"max_length": 4096}, UsageError, "reads 512 tokens; lower it, or stretch positions"
    yield "no template", {"base": "BARE"}, UsageError, "has no chat template"
    yield "other tokenizer", {"base": "SHORT"}, UsageError, "the tokenizer does not fit the model"
    yield "damaged weights", {"base": "TORN"}, ModelError, "TORN is damaged or incomplete, copy it there again"
    yield "damaged settings", {"base": "LISTED"}, ModelError, "transformers cannot load LISTED"
    yield "unknown layers", {"targets": ["nosuch"]}, UsageError, "targets is ['nosuch'], which cannot be adapted in"
    yield "no pattern", {"targets": "***("}, UsageError, "targets is ***(, which cannot be adapted in"


@pytest.mark.train
@pytest.mark.parametrize(
    ("name", "fields", "error", "message"), [pytest.param(*case, id=case[0]) for case in _bad_inputs()]
)
def test_bad_input_is_told(
    tiny: Path, tmp_path: Path, name: str, fields: dict[str, object], error: type[ATCError], message: str
) -> None:
    """Each message says where the fault is and what to do."""
    (tmp_path / "EMPTY").write_text("")
    (tmp_path / "WRONG").write_text('{"question": "?"}\n')
    good = (tiny / "pairs.jsonl").read_text()
    (tmp_path / "SAME").write_text(good)
    (tmp_path / "CUT").write_text(good.splitlines()[0] + '\n{"messages": [oops]}\n')
    answer = {"role": "assistant", "content": "b"}
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    for file, first in (("HALF", {"role": "user", "content": "a\ud83d"}), ("CALLED", {**answer, "tool_calls": [call]})):
        (tmp_path / file).write_text(json.dumps({"messages": [first, answer]}) + "\n")
    for folder in ("BARE", "SHORT", "TORN", "LISTED"):
        shutil.copytree(tiny / "base", tmp_path / folder)
    (tmp_path / "BARE" / "chat_template.jinja").unlink()
    architecture = json.loads((tmp_path / "SHORT" / "config.json").read_text())
    (tmp_path / "SHORT" / "config.json").write_text(json.dumps({**architecture, "vocab_size": 40}))
    (tmp_path / "TORN" / "model.safetensors").write_bytes(b"torn")
    (tmp_path / "LISTED" / "tokenizer_config.json").write_text("[1]")
    own = {key: str(tmp_path / str(value)) for key, value in fields.items() if str(value).isupper()}

    result = tune("small.yaml", changes(tiny, tmp_path / "out", **{**fields, **own}))

    assert isinstance(result.exception, error), result.exception
    assert message in str(result.exception)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("dropout=1.5", "dropout is 1.5: Input should be less than 1"),
        ("epochs=.inf", "epochs is inf: Input should be"),
        ("dev=''", "dev is ''"),
        ("targets=[]", "targets is []"),
        ("rope={type: linear, factor: .inf}", "rope.factor is inf: Input should be"),
        ("rope={type: linear, factor: 2, since: 2024-01-01}", "Extra inputs are not permitted"),
        ("epochs=2024-13-45", "--set 'epochs=2024-13-45': the value is no YAML"),
    ],
)
def test_a_value_that_cannot_be_is_told_with_its_field(change: str, message: str) -> None:
    """Before the data are read; the libraries would fail later, or train with it."""
    with pytest.raises(UsageError, match=re.escape(message)):
        read_config("small.yaml", ["base=b", "data=d", "out=o", change])
    assert read_config("small.yaml", ["base=b", "data=d", "out=o", "dev=5e-2"]).dev == 0.05


@pytest.mark.train
def test_a_first_attempt_that_fails_leaves_the_folder_free(tiny: Path, tmp_path: Path) -> None:
    """Where the base cannot be loaded or adapted, another one may be tried with the same folder."""
    torn = shutil.copytree(tiny / "base", tmp_path / "torn")
    (torn / "model.safetensors").write_bytes(b"torn")
    out = tmp_path / "out"

    first = tune("small.yaml", changes(tiny, out, max_steps=1, base=str(torn)))
    second = tune("small.yaml", changes(tiny, out, max_steps=1, targets=["nosuch"]))
    third = tune("small.yaml", changes(tiny, out, max_steps=1))

    assert isinstance(first.exception, ModelError) and isinstance(second.exception, UsageError)
    assert third.exit_code == 0, third.output + repr(third.exception)


@pytest.mark.train
def test_damaged_files_of_a_run_are_named(tiny: Path, tmp_path: Path) -> None:
    """Each message has the file and the remedy; without its summary a finished run writes the same one again."""
    out = tmp_path / "out"
    settings = changes(tiny, out, max_steps=2)
    assert tune("small.yaml", settings).exit_code == 0
    summary = json.loads((out / "summary.json").read_text())
    cases = [
        ("summary.json", "{", "summary.json cannot be read: .*delete this file"),
        ("summary.json", "[1]", "summary.json is damaged: it holds no JSON object; delete this file"),
        ("summary.json", "{}", "summary.json is damaged: it does not say how the run ended; delete this file"),
        ("run.json", "{", "run.json cannot be read: .*to begin anew"),
        ("run.json", "[1]", "run.json is damaged: it holds no JSON object; delete .*out to begin anew"),
    ]
    for name, content, message in cases:
        before = (out / name).read_text()
        (out / name).write_text(content)
        result = tune("small.yaml", settings)
        assert isinstance(result.exception, UsageError), result.exception
        assert re.search(message, str(result.exception))
        (out / name).write_text(before)

    below = tune("small.yaml", changes(tiny, out / "log.jsonl" / "x"))
    assert "x is, or lies below, a file; name a folder with --set out=" in str(below.exception)
    (out / "summary.json").unlink()
    assert tune("small.yaml", settings).exit_code == 0
    again = json.loads((out / "summary.json").read_text())
    assert {**again, "seconds": 0} == {**summary, "seconds": 0}


@pytest.mark.parametrize("name", sorted(path.name for path in CONFIGS.glob("*.yaml")))
def test_shipped_configurations_can_be_read(name: str) -> None:
    """Each is complete; the two of the papers have the papers' figures."""
    config = read_config(name)

    if name == "toolllm.yaml":
        assert (config.learning_rate, config.warm_up, config.batch) == (5e-5, 0.04, 64)
        assert (config.epochs, config.max_length, config.schedule) == (2, 8192, "cosine")
    if name == "xu.yaml":
        assert (config.learning_rate, config.schedule, config.batch) == (1e-5, "constant", 16)
        assert (config.epochs, config.max_length) == (8, 2048)
