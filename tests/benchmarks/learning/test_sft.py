"""`atc train sft`: what a fine-tuning promises, and what it cannot use, on models that are made on the spot."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.files import read_lines
from benchmarks.learning.sft.checkpoints import find_checkpoint, room_for, seal_checkpoint
from benchmarks.learning.sft.examples import IGNORED, TokenizedExample, make_plan, read_examples, split_dev
from benchmarks.learning.sft.settings import CONFIGS, TuningConfig, read_config
from benchmarks.learning.sft_command import sft
from protocols.errors import ATCError, ModelError, UsageError
from tests.benchmarks.learning.conftest import ExamplesOf, conversations
from tests.benchmarks.learning.tuning import changes, make_model, tune

ROOT = Path(__file__).resolve().parents[3]


def losses(out: Path) -> list[tuple[int, float]]:
    """Updates of a run, each with its loss."""
    return [(line["step"], line["loss"]) for _, line in read_lines(out / "log.jsonl") if "loss" in line]


@pytest.mark.train
def test_the_loss_is_that_of_all_logits(tiny: Path, examples_of: ExamplesOf) -> None:
    """Logits of the answers' tokens alone give the loss and the gradients that all logits give."""
    import torch
    import transformers

    from benchmarks.learning.sft.trainer import answer_loss, collate

    model = transformers.AutoModelForCausalLM.from_pretrained(tiny / "base")
    examples, _ = examples_of(*(line["messages"] for line in conversations(5)), max_length=128)
    batch = collate(examples, 128)
    outputs, loss, count = answer_loss(model, batch)
    loss.backward()
    selected = [weight.grad.clone() for weight in model.parameters()]
    model.zero_grad()

    logits = model(batch["input_ids"], use_cache=False).logits[:, :-1]
    expected = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), batch["labels"][:, 1:].flatten(), reduction="sum"
    )
    expected.backward()

    assert outputs.logits.shape[0] == count == (batch["labels"] != IGNORED).sum()
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(selected, [weight.grad for weight in model.parameters()], atol=1e-4, rtol=1e-4)


@pytest.mark.train
def test_positions_are_interpolated(tiny: Path) -> None:
    """With `rope: {type: linear, factor: 2}` position p is read as p/2 was before, and the context is twice as long."""
    import torch
    import transformers

    from atc.engines.pretrained import find_base
    from benchmarks.learning.sft.base import load_model

    config = read_config("small.yaml", changes(tiny, tiny / "rope", rope={"type": "linear", "factor": 2}))
    stretched = load_model(find_base(config.base), config)
    plain = transformers.AutoModelForCausalLM.from_pretrained(tiny / "base")
    ids = torch.arange(3, 35).unsqueeze(0)
    positions = torch.arange(32).unsqueeze(0)
    mask = torch.ones_like(ids)

    with torch.no_grad():
        expected = plain(ids, mask, position_ids=positions).logits
        at_double = stretched(ids, mask, position_ids=2 * positions).logits
        at_same = stretched(ids, mask, position_ids=positions).logits

    torch.testing.assert_close(at_double, expected)
    assert not torch.allclose(at_same, expected, atol=1e-4)
    assert stretched.config.max_position_embeddings == 2 * plain.config.max_position_embeddings


def test_steps_of_one_dialogue_are_on_one_side() -> None:
    """What is held out shares no dialogue with what is learned, and is about the share."""
    examples = [TokenizedExample(array("i", [0] * 2), (), f"query {number // 3}") for number in range(60)]
    training, held_out = split_dev(examples, 0.1, seed=0)

    assert len(held_out) == 6
    assert len(training) + len(held_out) == 60
    assert {example.group for example in training}.isdisjoint(example.group for example in held_out)
    assert split_dev(examples[:3], 0.1, seed=0) == (examples[:3], [])
    assert split_dev(examples, 0, seed=0) == (examples, [])


def test_the_plan_is_known_before_training() -> None:
    """Tokens after each update, the limits, and the rows of an update by length; every row comes in each epoch."""
    examples = [TokenizedExample(array("i", [0] * size), ()) for size in range(2, 12)]
    config = TuningConfig(base="b", data=("d",), out="o", epochs=2, batch=5, micro_batch=5)

    plan = make_plan(examples, config)
    limited = make_plan(examples, config.model_copy(update={"max_tokens": 50}))

    assert plan.steps == 4
    assert plan.tokens_after[-1] == 2 * sum(range(2, 12))
    assert sorted(plan.order[:10]) == list(range(10))
    assert plan.order[:5] == sorted(plan.order[:5], reverse=True)
    assert plan.order[:10] != plan.order[10:]
    assert limited.tokens_after[-1] >= 50
    assert limited.steps == next(step for step, tokens in enumerate(plan.tokens_after, 1) if tokens >= 50)
    assert make_plan(examples, config) == plan


RUN = {"learning_rate": 5e-3, "dropout": 0.1, "max_steps": 16, "epochs": 9, "save_every": 8}


@pytest.fixture(scope="module")
def finished(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 16 updates with checkpoints after 8 and 16, an adapter and a merged model."""
    out = tmp_path_factory.mktemp("finished") / "out"
    result = tune("small.yaml", changes(tiny, out, merge=True, **RUN))
    assert result.exit_code == 0, result.output + repr(result.exception)
    return out


def cut_off(finished: Path, out: Path) -> Path:
    """The run as kill -9 leaves it while it saves its second checkpoint."""
    shutil.copytree(finished, out)
    for name in ("adapter", "merged"):
        shutil.rmtree(out / name)
    for name in ("summary.json", "checkpoints/checkpoint-16/files.json"):
        (out / name).unlink()
    return out


@pytest.mark.train
def test_a_run_leaves_an_adapter_a_merged_model_and_a_card(tiny: Path, finished: Path) -> None:
    """The merged model answers as base and adapter do; a finished run is not trained again."""
    import peft
    import torch
    import transformers

    base = transformers.AutoModelForCausalLM.from_pretrained(tiny / "base")
    ids = torch.arange(3, 60).unsqueeze(0)
    with torch.no_grad():
        before = base(ids).logits
        merged = transformers.AutoModelForCausalLM.from_pretrained(finished / "merged")(ids).logits
        adapted = peft.PeftModel.from_pretrained(base, finished / "adapter")(ids).logits
    torch.testing.assert_close(merged, adapted, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(merged, before, atol=1e-2)
    card = (finished / "adapter" / "README.md").read_text()
    assert "learning_rate: 0.005" in card and "40 conversations" in card
    assert json.loads((finished / "summary.json").read_text())["steps"] == 16
    settings = changes(tiny, finished, merge=True, **RUN)
    again = tune("small.yaml", settings)
    assert again.exit_code == 0 and "is finished" in again.output
    other = tune("small.yaml", [*settings, "rank=2"])
    assert isinstance(other.exception, UsageError) and "other settings (rank)" in str(other.exception)


@pytest.mark.train
def test_a_killed_run_goes_on_with_the_same_losses(tiny: Path, finished: Path, tmp_path: Path) -> None:
    """After kill -9 the next updates have the losses of a run that was never stopped."""
    out = cut_off(finished, tmp_path / "out")
    result = tune("small.yaml", changes(tiny, out, **RUN))

    assert result.exit_code == 0, result.output + repr(result.exception)
    assert "checkpoint-16 cannot be used, it was not written to its end" in " ".join(result.output.split())
    assert "continued after update 8 of 16" in result.output
    assert [step for step, _ in losses(out)] == list(range(1, 17))
    assert [loss for _, loss in losses(out)] == pytest.approx([loss for _, loss in losses(finished)])


@pytest.mark.train
def test_a_run_stopped_by_its_time_goes_on_with_more(tiny: Path, finished: Path, tmp_path: Path) -> None:
    """The seconds of earlier runs count: `max_seconds` ends it with a checkpoint and all outputs; then it goes on."""
    out = cut_off(finished, tmp_path / "out")
    lines = [{**line, "seconds": 100} for _, line in read_lines(out / "log.jsonl")]
    (out / "log.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    short = tune("small.yaml", changes(tiny, out, **RUN, max_seconds=50))
    stopped = json.loads((out / "summary.json").read_text())
    has_adapter = (out / "adapter").is_dir()
    longer = tune("small.yaml", changes(tiny, out, **RUN))

    assert short.exit_code == longer.exit_code == 0, longer.output + repr(longer.exception)
    assert (stopped["stopped_by"], stopped["steps"], has_adapter) == ("max_seconds", 9, True)
    assert "continued after update 9 of 16" in longer.output


@pytest.mark.train
def test_a_model_learns_its_programs_by_heart(tiny: Path, tmp_path: Path) -> None:
    """Two layers made on the spot write their training programs again token for token, after 70 updates."""
    import torch
    import transformers

    lines, data, out = conversations(10), tmp_path / "programs.jsonl", tmp_path / "out"
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    make_model(tmp_path / "base", [turn["content"] for line in lines for turn in line["messages"]], hidden=192)
    fields = {"method": "full", "learning_rate": 2e-3, "schedule": "constant", "dev": 0.0, "epochs": 100}
    fields |= {"data": [str(data)], "batch": 10, "micro_batch": 10, "max_steps": 70, "save_every": 1000}

    result = tune("small.yaml", changes(tmp_path, out, **fields))

    assert result.exit_code == 0, result.output + repr(result.exception)
    tokenizer = transformers.AutoTokenizer.from_pretrained(out / "merged")
    model = transformers.AutoModelForCausalLM.from_pretrained(out / "merged")
    examples, _ = read_examples([str(data)], tokenizer, model.config.max_position_embeddings)
    reproduced = 0
    for example in examples:
        with torch.inference_mode():
            likeliest = model(torch.tensor([example.ids])).logits[0].argmax(-1).tolist()
        pairs = zip(likeliest, example.labels[1:], strict=False)
        reproduced += all(label in (IGNORED, token) for token, label in pairs)
    assert reproduced >= 9


@pytest.mark.train
def test_two_processes_train_as_one_does(tiny: Path, tmp_path: Path) -> None:
    """torchrun shares the rows of an update among its processes; the losses stay those of one process."""
    fields = {"max_steps": 2, "micro_batch": 1, "dev": 0, "learning_rate": 1e-3}
    settings = [part for change in changes(tiny, tmp_path / "two", **fields) for part in ("--set", change)]
    script = tmp_path / "sft.py"
    script.write_text("from benchmarks.learning.sft_command import sft; sft()")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [*command, "--config", "small.yaml", *settings], env=environment, capture_output=True, text=True, timeout=120
    )
    alone = tune("small.yaml", changes(tiny, tmp_path / "one", **fields))

    assert done.returncode == alone.exit_code == 0, done.stderr
    expected = [loss for _, loss in losses(tmp_path / "one")]
    assert [loss for _, loss in losses(tmp_path / "two")] == pytest.approx(expected, rel=1e-4)


def test_a_corrupt_checkpoint_is_passed_over(tmp_path: Path) -> None:
    """The one before it is used, and the user is told; so is one that a kill left unfinished."""
    for step in (4, 8, 12):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        (folder / "weights").write_text("1234")
        if step < 12:
            seal_checkpoint(folder)
    (tmp_path / "checkpoint-8" / "weights").write_text("1235")
    (tmp_path / "checkpoint-16").mkdir()
    (tmp_path / "checkpoint-16" / "files.json").write_text("[1]")
    messages: list[str] = []

    checkpoint = find_checkpoint(tmp_path, messages.append)

    assert checkpoint == tmp_path / "checkpoint-4"
    assert "checkpoint-16 cannot be used, files.json is corrupt" in messages[0]
    assert "checkpoint-12 cannot be used, it was not written to its end" in messages[1]
    assert "checkpoint-8 cannot be used, weights is corrupt" in messages[2]


@pytest.mark.train
def test_a_dry_run_tells_steps_tokens_parameters_and_memory(tiny: Path, tmp_path: Path) -> None:
    """Nothing is written, and the command for several GPUs is printed."""
    arguments = [part for change in changes(tiny, tmp_path / "out") for part in ("--set", change)]
    result = CliRunner().invoke(sft, ["--config", "gpu.yaml", "--dry-run", *arguments])
    figures = CliRunner().invoke(sft, ["--config", "gpu.yaml", "--dry-run", "--json", *arguments])

    assert result.exit_code == 0, result.output + repr(result.exception)
    assert "torchrun --nproc-per-node N --no-python atc train sft --config gpu.yaml --set" in result.output
    assert json.loads(figures.stdout)["trained"] > 10_000
    assert not (tmp_path / "out").exists()


@pytest.mark.train
def test_a_training_that_diverges_is_told(tiny: Path, tmp_path: Path) -> None:
    """Its weights would be no numbers, too; the log has none in place of the loss."""
    wild = {"learning_rate": 1e11, "max_steps": 8, "warm_up": 0, "schedule": "constant"}
    diverged = tune("small.yaml", changes(tiny, tmp_path / "out", **wild))

    assert isinstance(diverged.exception, UsageError)
    assert "the training has diverged; begin anew in another folder with a lower learning_rate" in str(
        diverged.exception
    )
    lines = [json.loads(line, parse_constant=int) for line in (tmp_path / "out" / "log.jsonl").read_text().splitlines()]
    assert None in [line.get("loss", 0) for line in lines]
    assert not (tmp_path / "out" / "adapter").exists()


@pytest.mark.train
def test_a_moved_run_gives_its_best_model(tiny: Path, finished: Path, tmp_path: Path) -> None:
    """The checkpoint that was best is found below the new folder; the merged model may be asked for later."""
    from safetensors.torch import load_file

    moved = Path(shutil.copytree(finished, tmp_path / "moved"))
    for name in ("adapter", "merged"):
        shutil.rmtree(moved / name)
    last = moved / "checkpoints" / "checkpoint-16"
    state = json.loads((last / "trainer_state.json").read_text())
    best: dict[str, object] = {"best_model_checkpoint": str(finished / "checkpoints" / "checkpoint-8")}
    best |= {"best_metric": 0, "best_global_step": 8}
    (last / "trainer_state.json").write_text(json.dumps(state | best))
    seal_checkpoint(last)
    again = tune("small.yaml", changes(tiny, moved, merge=True, **RUN))

    assert again.exit_code == 0, again.output + repr(again.exception)
    assert (moved / "merged").is_dir()
    name = "adapter_model.safetensors"
    expected, adapter = load_file(moved / "checkpoints" / "checkpoint-8" / name), load_file(moved / "adapter" / name)
    assert all((expected[tensor].half() == adapter[tensor]).all() for tensor in expected)


@pytest.mark.train
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """What was written stays, and the same command goes on."""
    with (
        pytest.raises(UsageError, match=r"No space left on device.*; make room, and the same command goes on"),
        room_for(tmp_path),
        Path("/dev/full").open("w") as file,
    ):
        file.write("x" * 100_000)


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
