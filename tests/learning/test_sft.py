"""`atc train sft`: what a fine-tuning promises, on models that are made on the spot."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from atc.files import read_lines
from atc.training.sft.checkpoints import find_checkpoint, seal_checkpoint
from atc.training.sft.examples import IGNORED, TokenizedExample
from atc.training.sft.output import loss_figures
from atc.training.sft.plan import make_plan, pack, split_dev
from atc.training.sft.settings import CONFIGS, TuningConfig, read_config
from benchmarks.micro.overfit import measure_overfit
from benchmarks.training.sft_command import sft
from protocols.errors import ATCError, LimitReached, ModelError, UsageError
from tests.learning.conftest import ExamplesOf, conversations

ROOT = Path(__file__).resolve().parents[2]


def changes(tiny: Path, out: Path, **fields: object) -> list[str]:
    """The fields that make a shipped configuration one for the small model."""
    small = {"base": str(tiny / "base"), "data": str(tiny / "pairs.jsonl"), "out": str(out), "max_length": 128}
    small |= {"batch": 4, "micro_batch": 2, "save_every": 4, "dev": 0.1, "precision": "fp32", "merge": False}
    return [f"{key}={json.dumps(value)}" for key, value in {**small, **fields}.items()]


def tune(config: str, settings: Sequence[str]) -> Result:
    """Run `atc train sft --config CONFIG --set …`."""
    arguments = [part for change in settings for part in ("--set", change)]
    return CliRunner().invoke(sft, ["--config", config, *arguments])


def losses(out: Path) -> list[tuple[int, float]]:
    """Updates of a run, each with its loss."""
    return [(line["step"], line["loss"]) for _, line in read_lines(out / "log.jsonl") if "loss" in line]


@pytest.mark.train
def test_packed_examples_do_not_see_each_other(tiny: Path, examples_of: ExamplesOf) -> None:
    """In a packed row the model predicts for each example what it predicts for it alone."""
    import torch
    import transformers

    from atc.training.sft.trainer import answer_loss, collate

    model = transformers.AutoModelForCausalLM.from_pretrained(tiny / "base")
    examples, _ = examples_of(*(line["messages"] for line in conversations(8)), max_length=128)

    rows = pack(examples, 128, packing=True)
    with torch.no_grad():
        _, packed, packed_count = answer_loss(model, collate(rows, True, 128))
        _, alone, alone_count = answer_loss(model, collate(pack(examples, 128, packing=False), False, 128))

    assert len(rows) < len(examples)
    assert packed_count == alone_count
    assert float(packed) == pytest.approx(float(alone), rel=1e-5)


@pytest.mark.train
def test_the_loss_is_that_of_all_logits(tiny: Path, examples_of: ExamplesOf) -> None:
    """Logits of the answers' tokens alone give the loss and the gradients that all logits give."""
    import torch
    import transformers

    from atc.training.sft.trainer import answer_loss, collate

    model = transformers.AutoModelForCausalLM.from_pretrained(tiny / "base")
    examples, _ = examples_of(*(line["messages"] for line in conversations(5)), max_length=128)
    batch = collate(pack(examples, 128, packing=False), False, 128)
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
def test_batches_have_few_lengths() -> None:
    """Rows are padded to multiples of 64, at most to `max_length`: torch keeps memory for each length it has met."""
    from atc.training.sft.trainer import collate

    rows = {size: pack([TokenizedExample([1] * size, [1] * size)], 100, packing=False) for size in (5, 64, 65, 100)}

    assert [collate(row, False, 100)["input_ids"].shape for row in rows.values()] == [(1, 64)] * 2 + [(1, 100)] * 2


@pytest.mark.train
def test_positions_are_interpolated(tiny: Path) -> None:
    """With `rope: {type: linear, factor: 2}` position p is read as p/2 was before, and the context is twice as long."""
    import torch
    import transformers

    from atc.models.pretrained import find_base
    from atc.training.sft.base import load_model

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
    examples = [TokenizedExample([0] * 2, [0] * 2, f"query {number // 3}") for number in range(60)]
    training, held_out = split_dev(examples, 0.1, seed=0)

    assert len(held_out) == 6
    assert len(training) + len(held_out) == 60
    assert {example.group for example in training}.isdisjoint(example.group for example in held_out)
    assert split_dev(examples[:3], 0.1, seed=0) == (examples[:3], [])
    assert split_dev(examples, 0, seed=0) == (examples, [])


def test_a_large_dialogue_is_learned(tmp_path: Path) -> None:
    """Held out, it would leave nothing to learn; lines without a query are dialogues of their own."""
    examples = [TokenizedExample([0] * 2, [0] * 2, "query 1")] * 99 + [TokenizedExample([1] * 2, [0] * 2, "query 2")]
    sizes = {tuple(map(len, split_dev(examples, 0.02, seed))) for seed in range(9)}

    assert sizes <= {(99, 1), (1, 99)}
    several = [*examples, *(TokenizedExample([2] * 2, [0] * 2, f"query {number}") for number in range(3, 9))]
    assert {len(split_dev(several, 0.02, seed)[1]) for seed in range(9)} == {2}


def test_the_plan_is_known_before_training() -> None:
    """Tokens after each update, the limits, and the rows of an update by length; every row comes in each epoch."""
    examples = [TokenizedExample([0] * size, [0] * size) for size in range(2, 12)]
    rows = pack(examples, 64, packing=False)
    config = TuningConfig(base="b", data=("d",), out="o", epochs=2, batch=5)

    plan = make_plan(rows, config)
    limited = make_plan(rows, TuningConfig(base="b", data=("d",), out="o", epochs=2, batch=5, max_tokens=50))

    assert plan.steps == 4
    assert plan.tokens_after[-1] == 2 * sum(range(2, 12))
    assert sorted(plan.order[:10]) == list(range(10))
    assert plan.order[:5] == sorted(plan.order[:5], reverse=True)
    assert plan.order[:10] != plan.order[10:]
    assert limited.tokens_after[-1] >= 50
    assert limited.steps == next(step for step, tokens in enumerate(plan.tokens_after, 1) if tokens >= 50)
    assert make_plan(rows, config) == plan


@pytest.mark.train
def test_a_run_leaves_an_adapter_a_merged_model_a_curve_and_a_card(tiny: Path, tmp_path: Path) -> None:
    """The merged model answers as base and adapter do; a finished run is not trained again."""
    import peft
    import torch
    import transformers

    out = tmp_path / "out"
    settings = changes(tiny, out, merge=True, learning_rate=5e-3, max_steps=12, epochs=9)
    result = tune("small.yaml", settings)
    assert result.exit_code == 0, result.output + repr(result.exception)

    base = transformers.AutoModelForCausalLM.from_pretrained(tiny / "base")
    ids = torch.arange(3, 60).unsqueeze(0)
    with torch.no_grad():
        before = base(ids).logits
        merged = transformers.AutoModelForCausalLM.from_pretrained(out / "merged")(ids).logits
        adapted = peft.PeftModel.from_pretrained(base, out / "adapter")(ids).logits
    torch.testing.assert_close(merged, adapted, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(merged, before, atol=1e-2)
    assert (out / "loss.svg").read_text().lstrip().startswith("<?xml")
    card = (out / "adapter" / "README.md").read_text()
    assert "learning_rate: 0.005" in card and "40 conversations" in card
    assert json.loads((out / "summary.json").read_text())["steps"] == 12
    again = tune("small.yaml", settings)
    assert again.exit_code == 0 and "is finished" in again.output
    other = tune("small.yaml", [*settings, "rank=2"])
    assert isinstance(other.exception, UsageError) and "other settings (rank)" in str(other.exception)


@pytest.mark.train
def test_the_configuration_for_a_gpu_runs_here_too(tiny: Path, tmp_path: Path) -> None:
    """gpu.yaml, in bf16 and packed, makes 20 updates on a processor, and the loss falls."""
    out = tmp_path / "out"
    settings = changes(
        tiny, out, precision="bf16", packing=True, learning_rate=5e-3, max_steps=20, epochs=200, batch=2, micro_batch=1
    )

    result = tune("gpu.yaml", settings)

    assert result.exit_code == 0, result.output + repr(result.exception)
    values = [loss for _, loss in losses(out)]
    assert len(values) == 20
    assert sum(values[-5:]) < sum(values[:5])


@pytest.mark.train
def test_a_model_learns_its_programs_by_heart(tiny: Path, tmp_path: Path) -> None:
    """Two layers made on the spot write their training programs again token for token, after 70 updates."""
    figures = measure_overfit(tmp_path, programs=10, seconds=30, steps=70)

    assert figures.reproduced >= 9


@pytest.mark.train
def test_a_killed_run_goes_on_with_the_same_losses(tiny: Path, tmp_path: Path) -> None:
    """After kill -9 the next ten updates have the losses of a run that was never stopped."""
    fields = {"max_steps": 16, "epochs": 9, "dropout": 0.1, "learning_rate": 1e-3}
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert tune("small.yaml", changes(tiny, whole, **fields)).exit_code == 0
    settings = [part for change in changes(tiny, killed, **fields) for part in ("--set", change)]
    code = "from benchmarks.training.sft_command import sft; sft()"
    command = [sys.executable, "-c", code, "--config", "small.yaml", *settings]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(killed / "checkpoints" / "checkpoint-4" / "files.json")
        finally:
            process.send_signal(signal.SIGKILL)

    result = tune("small.yaml", changes(tiny, killed, **fields))

    assert result.exit_code == 0, result.output + repr(result.exception)
    assert "continued after update" in result.output
    assert [step for step, _ in losses(killed)] == list(range(1, 17))
    assert [loss for _, loss in losses(killed)[-10:]] == pytest.approx([loss for _, loss in losses(whole)[-10:]])


@pytest.mark.train
def test_two_processes_train_as_one_does(tiny: Path, tmp_path: Path) -> None:
    """torchrun shares the rows of an update among its processes; the losses stay those of one process."""
    fields = {"max_steps": 4, "micro_batch": 1, "learning_rate": 1e-3}
    settings = [part for change in changes(tiny, tmp_path / "two", **fields) for part in ("--set", change)]
    script = tmp_path / "sft.py"
    script.write_text("from benchmarks.training.sft_command import sft; sft()")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [*command, "--config", "small.yaml", *settings], env=environment, capture_output=True, text=True, timeout=120
    )
    alone = tune("small.yaml", changes(tiny, tmp_path / "one", **fields))

    assert done.returncode == alone.exit_code == 0, done.stderr
    expected = [loss for _, loss in losses(tmp_path / "one")]
    assert [loss for _, loss in losses(tmp_path / "two")] == pytest.approx(expected, rel=1e-4)


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    deadline = time.monotonic() + 60
    while not path.is_file():
        assert time.monotonic() < deadline, f"{path} did not come"
        time.sleep(0.01)


@pytest.mark.train
def test_a_run_stopped_by_its_time_goes_on_with_more(tiny: Path, tmp_path: Path) -> None:
    """`max_seconds` ends a run with a checkpoint and all outputs; without the limit it goes on from there."""
    out = tmp_path / "out"
    fields = {"max_steps": 400, "epochs": 90, "dev": 0, "save_every": 200}

    short = tune("small.yaml", changes(tiny, out, **fields, max_seconds=1))
    stopped = json.loads((out / "summary.json").read_text())
    longer = tune("small.yaml", changes(tiny, out, **fields, max_seconds=6))

    same = tune("small.yaml", changes(tiny, out, **fields, max_seconds=6))

    assert short.exit_code == longer.exit_code == same.exit_code == 0, longer.output + repr(longer.exception)
    over = "was stopped by max_seconds" if json.loads((out / "summary.json").read_text())["steps"] < 400 else "finished"
    assert over in " ".join(same.output.split())
    assert stopped["stopped_by"] == "max_seconds" and stopped["steps"] < 400
    assert f"continued after update {stopped['steps']} of 400" in longer.output
    assert (out / "adapter").is_dir()


@pytest.mark.train
@pytest.mark.parametrize(
    "text", ["CUDA out of memory. Tried to allocate 20 GiB", "DefaultCPUAllocator: can't allocate memory"]
)
def test_out_of_memory_is_told(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """The message says what to lower; what was written stays, and the same command then trains to the end."""
    import torch

    def exhausted(*arguments: object, **options: object) -> object:
        raise RuntimeError(text)

    settings = changes(tiny, tmp_path / "out", max_steps=2)
    with monkeypatch.context() as patch:
        patch.setattr(torch.nn.functional, "cross_entropy", exhausted)
        failed = tune("small.yaml", settings)
    smaller = tune("small.yaml", [*settings, "micro_batch=1", "gradient_checkpointing=true"])

    assert isinstance(failed.exception, LimitReached)
    assert "lower micro_batch or set gradient_checkpointing: true" in str(failed.exception)
    assert smaller.exit_code == 0, smaller.output + repr(smaller.exception)


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
def test_the_dev_loss_is_that_of_each_target(tiny: Path, tmp_path: Path) -> None:
    """Whatever answers share a batch: a long one counts with all its tokens, so `micro_batch` may be changed."""
    data = tmp_path / "lengths.jsonl"
    turns = [
        [{"role": "user", "content": "Add."}, {"role": "assistant", "content": "print(1)" * (1 + number % 5)}]
        for number in range(24)
    ]
    data.write_text("".join(json.dumps({"messages": messages}) + "\n" for messages in turns))
    figures = []
    for size in (1, 4):
        out = tmp_path / str(size)
        fields = {"data": str(data), "dev": 0.5, "micro_batch": size, "max_steps": 1}
        assert tune("small.yaml", changes(tiny, out, **fields)).exit_code == 0
        figures.append(loss_figures(out)["dev_before"])

    assert figures[0] == pytest.approx(figures[1], rel=1e-5)


@pytest.mark.train
def test_a_moved_run_gives_its_best_model(tiny: Path, tmp_path: Path) -> None:
    """The checkpoint that was best is found below the new folder; the merged model may be asked for later."""
    from safetensors.torch import load_file

    out, moved = tmp_path / "out", tmp_path / "moved"
    assert tune("small.yaml", changes(tiny, out, max_steps=8)).exit_code == 0
    last = out / "checkpoints" / "checkpoint-8"
    state = json.loads((last / "trainer_state.json").read_text())
    state |= {
        "best_model_checkpoint": str(out / "checkpoints" / "checkpoint-4"),
        "best_metric": 0,
        "best_global_step": 4,
    }
    (last / "trainer_state.json").write_text(json.dumps(state))
    seal_checkpoint(last)
    out.rename(moved)
    again = tune("small.yaml", changes(tiny, moved, max_steps=8, merge=True))

    assert again.exit_code == 0, again.output + repr(again.exception)
    assert (moved / "merged").is_dir()
    name = "adapter_model.safetensors"
    best, given = load_file(moved / "checkpoints" / "checkpoint-4" / name), load_file(moved / "adapter" / name)
    assert all((best[tensor].half() == given[tensor]).all() for tensor in best)


@pytest.mark.train
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """What was written stays, and the same command goes on."""
    from atc.training.sft.trainer import room_for

    with (
        pytest.raises(UsageError, match=r"No space left on device.*; make room, and the same command goes on"),
        room_for(tmp_path),
        Path("/dev/full").open("w") as file,
    ):
        file.write("x" * 100_000)


def _bad_inputs() -> Iterator[tuple[str, dict[str, object], type[ATCError], str]]:
    yield "no data", {"data": "missing.jsonl"}, UsageError, "there is no data file missing.jsonl"
    yield "empty data", {"data": "EMPTY"}, UsageError, "no example to train on"
    yield "no messages", {"data": "WRONG"}, UsageError, 'line 1: a line is {"messages"'
    yield "cut line", {"data": "CUT"}, UsageError, "line 2: no JSON"
    yield "half a character", {"data": "HALF"}, UsageError, "line 1: message 1: character 1 of its content is half a"
    yield "no arguments", {"data": "CALLED"}, UsageError, "line 1: message 1: a call is {"
    yield "dev is data", {"dev": "SAME"}, UsageError, "dev and data are the same file"
    yield "no base", {"base": "./nowhere"}, ModelError, "there is no model folder nowhere"
    yield "unknown field", {"learning": 1}, UsageError, "no field 'learning'"
    yield "wrong type", {"rank": "many"}, UsageError, "rank is 'many', and must be int"
    yield "wrong batch", {"batch": 3}, UsageError, "must be a multiple of micro_batch"
    yield "too long", {"max_length": 4096}, UsageError, "reads 512 tokens; lower it, or stretch positions"
    yield "no qlora", {"method": "qlora"}, UsageError, "method qlora needs"
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
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "5"}}
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
        ("dropout=1.5", "dropout is 1.5, and must be less than 1"),
        ("warm_up=2", "warm_up is 2.0, and must be less than 1"),
        ("epochs=.inf", "epochs is inf, and must be less than 1,000,000"),
        ("epochs=.nan", "epochs is nan, and must be a number"),
        ("learning_rate=.nan", "learning_rate is nan, and must be a number"),
        ("learning_rate=nan", "learning_rate is nan, and must be a number"),
        ("weight_decay=.inf", "weight_decay is inf, and must be less than"),
        ("dev=.nan", "dev is nan, and must be a file or a share from 0 to 0.5"),
        ("dev=''", "dev is '', and must be a file or a share"),
        ("rank=100000000", "rank is 100000000, and must be less than 65,536"),
        ("seed=-1", "seed is -1, and must be larger"),
        ("seed=4294967296", "seed is 4294967296, and must be less than 4,294,967,296"),
        ("targets=[]", "targets is empty, and must be all-linear, or a list"),
        (
            "rope={type: linear, factor: .inf}",
            "the factor of rope is inf, and must be at least 1 and less",
        ),
        ("rope={type: linear, factor: .nan}", "the factor of rope is nan, and must be at least 1"),
        ("rope={type: linear, factor: 2, since: 2024-01-01}", "must be like {type: linear, factor: 2}"),
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
def test_other_settings_after_memory_ran_out(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has been trained then, so that the advice to lower max_length can be followed in the same folder."""
    import torch

    def exhausted(*arguments: object, **options: object) -> object:
        raise RuntimeError("CUDA out of memory")

    with monkeypatch.context() as patch:
        patch.setattr(torch.nn.functional, "cross_entropy", exhausted)
        failed = tune("small.yaml", changes(tiny, tmp_path / "out", max_steps=1))
    shorter = tune("small.yaml", changes(tiny, tmp_path / "out", max_steps=1, max_length=64))

    assert isinstance(failed.exception, LimitReached)
    assert shorter.exit_code == 0, shorter.output + repr(shorter.exception)


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


def test_a_log_that_is_none_is_told(tmp_path: Path) -> None:
    """The message has the line; a loss without a value is no error, and no figure."""
    file = tmp_path / "log.jsonl"
    line = {"step": 1, "loss": 2.0, "seconds": 1}
    file.write_text(f"{json.dumps(line)}\n{json.dumps({**line, 'dev_loss': float('nan')})}\n")

    assert loss_figures(tmp_path) == {"first_loss": 2.0, "last_loss": 2.0, "dev_before": None, "dev_after": None}
    file.write_text("5\n\n")
    with pytest.raises(UsageError, match=r"log\.jsonl, line 1: this is no line of a training's log; delete it"):
        loss_figures(tmp_path)


@pytest.mark.train
def test_a_hub_that_cannot_be_reached(tiny: Path, tmp_path: Path) -> None:
    """The message says how to take a folder instead."""
    settings = [part for change in changes(tiny, tmp_path / "out", base="nobody/nothing") for part in ("--set", change)]
    code = "from atc.cli import COMMANDS, main; COMMANDS['train'] = 'benchmarks.training.command:train'; main()"
    command = [sys.executable, "-c", code, "train", "sft", "--config", "small.yaml", *settings]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}

    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)

    assert done.returncode == 5, done.stderr
    assert "transformers cannot load nobody/nothing" in done.stderr
    assert "name the folder in its place" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", sorted(path.name for path in CONFIGS.glob("*.yaml")))
def test_shipped_configurations_can_be_read(name: str) -> None:
    """Each is complete; the two of the papers have the papers' figures."""
    config = read_config(name)

    if name == "toolllm.yaml":
        assert (config.learning_rate, config.warm_up, config.batch) == (5e-5, 0.04, 64)
        assert (config.epochs, config.max_length, config.schedule) == (2, 8192, "cosine")
    if name == "xu.yaml":
        assert (config.learning_rate, config.schedule, config.batch) == (1e-5, "constant", 16)
        assert (config.epochs, config.max_length, config.packing) == (8, 2048, False)
