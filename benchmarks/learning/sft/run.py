"""A fine-tuning from its configuration to its output folder; repeating it continues it."""

from __future__ import annotations

import hashlib
import json
import shlex
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from atc.engines.pretrained import BaseModelFiles, find_base, loading
from atc.files import make_folder, write_json
from benchmarks.learning.sft.base import check_vocabulary, load_model, load_tokenizer, model_config, require
from benchmarks.learning.sft.checkpoints import room_for
from benchmarks.learning.sft.examples import (
    ExampleCounts,
    TokenizedExample,
    TrainingPlan,
    make_plan,
    read_examples,
    split_dev,
)
from benchmarks.learning.sft.settings import TuningConfig
from protocols.errors import UsageError

__all__ = ["estimate", "finished", "prepare", "run"]

Wrap = Callable[[Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class PreparedTuning:
    """Everything before the weights: the data as rows, and the order in which they are trained on."""

    config: TuningConfig
    base: BaseModelFiles
    tokenizer: Any
    architecture: Any
    counts: ExampleCounts
    plan: TrainingPlan
    dev: Sequence[TokenizedExample]


def finished(config: TuningConfig) -> dict[str, Any] | None:
    """The summary of a run that is over, or None. A run that its time limit stopped is not if the limit was raised, and
    none is that lacks the merged model.

    Raises: UsageError: The output folder holds a run with another configuration or other data, which has trained
        already; or a file in it is damaged.
    """
    out = Path(config.out)
    begun = _stored(out / "run.json", f"delete {out} to begin anew")
    if begun is None:
        return None
    now = _identity(config)
    defaults = {name: entry.get_default() for name, entry in TuningConfig.model_fields.items()}
    begun = {**defaults, **begun}  # it may lack a field that was none yet
    changed = [name for name in now if begun.get(name) != now[name]]
    file = out / "summary.json"
    if changed and not file.exists() and not any((out / "checkpoints").glob("checkpoint-*")):
        return None  # it came to nothing, and there is nothing to be mixed with
    if changed:
        raise UsageError(
            f"{out} holds a run with other settings ({', '.join(changed)}); name another folder (--set out=…), or "
            "delete that one"
        )
    remedy = "delete this file, and the same command writes it again from the last checkpoint"
    summary = _stored(file, remedy)
    if summary is None:
        return None
    if not isinstance(summary.get("stopped_by"), str) or not isinstance(summary.get("seconds"), int | float):
        raise UsageError(f"{file} is damaged: it does not say how the run ended; {remedy}")
    stopped = summary["stopped_by"] == "max_seconds" and (
        not config.max_seconds or config.max_seconds > summary["seconds"]
    )
    unmerged = config.merge and config.method != "full" and not (out / "merged").is_dir()
    return None if stopped or unmerged else summary


def _stored(file: Path, remedy: str) -> dict[str, Any] | None:
    """The JSON object in a file of a run, or None without the file. Raises: UsageError: It holds none."""
    try:
        data = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise UsageError(f"{file.parent} is, or lies below, a file; name a folder with --set out=…") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read: {error}; {remedy}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{file} is damaged: it holds no JSON object; {remedy}")
    return data


def _identity(config: TuningConfig) -> dict[str, Any]:
    """What makes two runs the same: the settings, and the content of the data."""
    files = [*config.data, *([config.dev] if isinstance(config.dev, str) else [])]
    digests = {}
    for name in files:
        if not Path(name).is_file():
            raise UsageError(f"there is no data file {name}; name another with --set data=FILE")
        try:
            with Path(name).open("rb") as file:
                digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise UsageError(f"the data file {name} cannot be read: {error.strerror or error}") from None
    held_out = digests.get(config.dev) if isinstance(config.dev, str) else None
    if same := next((name for name in config.data if digests[name] == held_out), None):
        raise UsageError(f"dev and data are the same file, {same}: name another one, or a share of data like 0.02")
    decisive = config.decisive()
    del decisive["out"]
    return {**json.loads(json.dumps(decisive)), "sha256": digests}


def prepare(config: TuningConfig, wrap: Wrap = iter, processes: int = 1) -> PreparedTuning:
    """Read the data and plan the training. Raises: UsageError, ModelError."""
    base = find_base(config.base)
    require(base.gguf is not None)
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")  # names that it will change
    if config.batch % (config.micro_batch * processes):
        raise UsageError(
            f"batch is {config.batch}, and must be a multiple of micro_batch ({config.micro_batch}) times "
            f"{processes} processes"
        )
    architecture = model_config(base, config)
    context = getattr(architecture, "max_position_embeddings", config.max_length)
    if config.max_length > context:
        raise UsageError(
            f"max_length is {config.max_length}, and {base.name} reads {context} tokens; lower it, or stretch "
            "positions with `rope: {type: linear, factor: F}`"
        )
    tokenizer = load_tokenizer(base, config.layout)
    reading = (tokenizer, config.max_length, config.loss_on, config.layout, wrap)
    examples, counts = read_examples(config.data, *reading)
    if isinstance(config.dev, str):
        training, held_out = examples, read_examples([config.dev], *reading)[0]
    else:
        training, held_out = split_dev(examples, config.dev, config.seed)
    vocabulary = architecture.get_text_config().vocab_size
    check_vocabulary(base, vocabulary, tokenizer, [*training, *held_out])
    plan = make_plan(training, config)
    return PreparedTuning(config, base, tokenizer, architecture, counts, plan, held_out)


def estimate(prepared: PreparedTuning) -> dict[str, Any]:
    """What the training would take, as plain data; memory in bytes, per process.

    No weights are loaded; the model is built without memory for them.

    Source: activations of a layer take about 34 bytes per token and hidden unit in 16 bits (Korthikanti et al.,
    arXiv:2205.05198, section 4.1); with gradient checkpointing 2, and one layer at a time the rest.
    """
    import torch
    import transformers

    from benchmarks.learning.sft.trainer import adapted

    config, text = prepared.config, prepared.architecture.get_text_config()
    with torch.device("meta"):
        with loading(prepared.base):
            model = transformers.AutoModelForCausalLM.from_config(prepared.architecture)
        model = adapted(model, config)
        trained, parameters = _trained(model), sum(parameter.numel() for parameter in model.parameters())
    weight_bytes = 2 if config.method == "lora" and config.precision == "bf16" else 4
    longest = max(len(row) for row in prepared.plan.rows)
    tokens = config.micro_batch * longest
    layer = tokens * text.hidden_size * (34 if config.precision == "bf16" else 68)
    layers = layer + layer // 17 * text.num_hidden_layers if config.gradient_checkpointing else None
    share = prepared.counts.target_tokens / prepared.counts.tokens
    logits = round(tokens * share * text.vocab_size * 10)
    activations = (layers if layers is not None else layer * text.num_hidden_layers) + logits
    plan = prepared.plan
    return {
        "examples": prepared.counts.examples,
        "truncated": prepared.counts.truncated,
        "dropped": prepared.counts.dropped,
        "rows": len(plan.rows),
        "dev_rows": len(prepared.dev),
        "steps": plan.steps,
        "tokens": plan.tokens_after[-1],
        "target_share": share,
        "trained": trained,
        "parameters": parameters,
        "memory": round(parameters * weight_bytes + trained * (12 if config.method == "full" else 16) + activations),
    }


def _trained(model: Any) -> int:
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def run(
    prepared: PreparedTuning,
    command: Sequence[str],
    say: Callable[[str], None],
    progress: Callable[[int], AbstractContextManager[Callable[[int, float], None]]],
) -> dict[str, Any]:
    """Train, and write the output folder; returns its summary.

    Args:
        command: Goes into the model card.
        progress: Given the updates in all, shows them: it is told of each with its loss.
    Raises: UsageError, ModelError, LimitReached.
    """
    import transformers

    from benchmarks.learning.sft.base import loss_figures, save_model, write_card
    from benchmarks.learning.sft.trainer import adapted, is_main_process, train

    config, counts = prepared.config, prepared.counts
    out = Path(config.out)
    if is_main_process():
        make_folder(out)
    transformers.set_seed(config.seed)
    model = adapted(load_model(prepared.base, config), config)
    if is_main_process():  # not before there is something to train: another base or other layers may be tried here
        write_json(out / "run.json", _identity(config))
    trained, parameters = _trained(model), sum(parameter.numel() for parameter in model.parameters())
    with progress(prepared.plan.steps) as on_step:
        outcome = train(model, prepared.plan, prepared.dev, config, say, on_step)
    summary = {
        "stopped_by": "max_seconds" if outcome.stopped else "its end",
        "steps": outcome.steps,
        "tokens_seen": prepared.plan.tokens_after[outcome.steps - 1] if outcome.steps else 0,
        "seconds": round(outcome.seconds, 1),
        **loss_figures(out),
        "trained": trained,
        "parameters": parameters,
    }
    if is_main_process():
        if not outcome.saved:
            with room_for(out):
                save_model(outcome.model, prepared.tokenizer, prepared.base, config)
        facts = {**asdict(counts), **summary, "base": prepared.base.name, "dev_examples": len(prepared.dev)}
        digests = _identity(config)["sha256"].items()
        data_lines = [f"{Path(name).name} (sha256 {digest[:16]}…)" for name, digest in digests]
        write_card(config, shlex.join(command), {**facts, "data_lines": data_lines})
        write_json(out / "summary.json", summary)
    return summary
