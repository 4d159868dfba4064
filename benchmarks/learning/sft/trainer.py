"""The training itself: transformers' Trainer over a plan, with a loss on answers only, a log, and safe checkpoints."""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.files import append_line, read_lines, write_text
from benchmarks.learning.memory import keep_freed_memory
from benchmarks.learning.sft.checkpoints import find_checkpoint, keep_best_beside, room_for, seal_checkpoint, step_of
from benchmarks.learning.sft.examples import IGNORED, TokenizedExample, TrainingPlan
from benchmarks.learning.sft.settings import TuningConfig
from protocols.errors import LimitReached, UsageError

__all__ = ["adapted", "is_main_process", "process_count", "read_log", "train"]

_CHECKPOINTS = 3
"""How many are kept: the best and the newest two."""

_LENGTHS = 64
"""Rows are padded to a multiple of this. torch keeps code and memory for each size that it has multiplied, about a
megabyte a size on a processor, so that a process grew by gigabytes where every batch had a length of its own."""


def process_count() -> int:
    """Processes that train together, as torchrun says."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main_process() -> bool:
    """Whether this process is the one that writes files."""
    return int(os.environ.get("RANK", "0")) == 0


class TrainingLog:
    """`log.jsonl`: a line for each update (step, loss, rate, tokens, seconds) and for each dev loss.

    Seconds go on counting in a continued run.
    """

    def __init__(self, path: Path, tokens_after: Sequence[int]) -> None:
        self.path = path
        self._tokens_after = tokens_after
        self._started = time.monotonic()

    def begin(self, step: int) -> None:
        """Forget the lines after `step`, where the run goes on, and start the clock."""
        lines = [line for line in read_log(self.path) if line["step"] <= step] if step else []
        if is_main_process():
            write_text(self.path, "".join(json.dumps(line) + "\n" for line in lines))
        self._started = time.monotonic() - max((line["seconds"] for line in lines), default=0.0)

    @property
    def seconds(self) -> float:
        """Seconds of training up to now, all runs together."""
        return time.monotonic() - self._started

    def add(self, step: int, **figures: float | None) -> None:
        """Append a line."""
        if is_main_process():
            tokens = self._tokens_after[step - 1] if step else 0
            line = {"step": step, **figures, "tokens": tokens, "seconds": round(self.seconds, 2)}
            append_line(self.path, json.dumps(line))


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a log; a loss that was no number is None. Raises: UsageError: One has no step or no seconds."""
    lines = []
    for where, line in read_lines(path):
        if not isinstance(line, dict) or not all(isinstance(line.get(key), int | float) for key in ("step", "seconds")):
            raise UsageError(f"{where}: this is no line of a training's log; delete it, and repeat the command")
        lines.append(line)
    return lines


@dataclass(frozen=True, slots=True)
class TrainingOutcome:
    """The model of the best checkpoint (of the last update without held-out rows), and how the training ended."""

    model: Any
    steps: int
    seconds: float
    stopped: bool
    """Stopped by `max_seconds`, before its planned end."""
    saved: bool
    """The weights were sharded over the processes, which have written them together."""


def adapted(model: Any, config: TuningConfig) -> Any:
    """The model with what is trained: itself, or a fresh LoRA adapter. The adapter is fp32, also on a bf16 base.

    Raises:
        UsageError: The model has no layers of the names in `targets`, or they cannot be adapted.
        LimitReached: Out of memory.
    """
    if config.method == "full":
        return model
    import peft

    targets = config.targets if isinstance(config.targets, str) else list(config.targets)
    settings = peft.LoraConfig(
        task_type="CAUSAL_LM",
        r=config.rank,
        lora_alpha=config.alpha,
        lora_dropout=config.dropout,
        target_modules=targets,
    )
    try:
        with _memory(f"with adapters of rank {config.rank}; lower rank, or name fewer layers in targets"):
            adapter = peft.get_peft_model(model, settings)
    except (ValueError, re.error) as error:  # a text is a regular expression of names
        reason = str(error).partition(". ")[0]
        raise UsageError(
            f"targets is {targets}, which cannot be adapted in {config.base}: {reason}; give all-linear, or a list of "
            "the ends of layers' names, like [q_proj, v_proj]"
        ) from error
    return adapter


def train(
    model: Any,
    plan: TrainingPlan,
    dev: Sequence[TokenizedExample],
    config: TuningConfig,
    say: Callable[[str], None],
    on_step: Callable[[int, float], None],
) -> TrainingOutcome:
    """Train from the newest whole checkpoint, or from the beginning.

    Args:
        dev: Held-out rows; the model with the lowest loss on them is returned. None: the last model is.
        say: Is told what the user should know.
        on_step: Called with the updates that are done and the last loss.
    Raises:
        UsageError: The loss is no number any more, or a checkpoint cannot be written.
        LimitReached: Out of memory.
    """
    keep_freed_memory()
    out = Path(config.out)
    log = TrainingLog(out / "log.jsonl", plan.tokens_after)
    trainer = _make_trainer(model, plan, dev, config, log, on_step)
    checkpoint = find_checkpoint(out / "checkpoints", say)
    if checkpoint and is_main_process():
        keep_best_beside(checkpoint)
    log.begin(step_of(checkpoint) if checkpoint else 0)
    remedy = (
        f"with micro_batch {config.micro_batch} and max_length {config.max_length}; lower micro_batch or set "
        "gradient_checkpointing: true (both may change in a continued run), else lower max_length; the same command "
        "then goes on from the last checkpoint"
    )
    with _memory(remedy), room_for(out), _inputs_as_they_are(model, config):
        if checkpoint:
            say(f"continued after update {step_of(checkpoint)} of {plan.steps}")
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    steps = trainer.state.global_step
    sharded = bool(trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled)
    if sharded:
        with room_for(out):
            trainer.save_model(str(out / ("merged" if config.method == "full" else "adapter")))
    whole = trainer.accelerator.unwrap_model(trainer.model)
    return TrainingOutcome(whole, steps, log.seconds, steps < plan.steps, sharded)


def _inputs_as_they_are(model: Any, config: TuningConfig) -> AbstractContextManager[None]:
    """An adapter reads what its layer reads: peft would write each input anew in fp32, and autocast then in bf16."""
    if config.method == "full":
        return nullcontext()
    from peft.helpers import disable_input_dtype_casting

    casting: AbstractContextManager[None] = disable_input_dtype_casting(model)
    return casting


@contextmanager
def _memory(remedy: str) -> Iterator[None]:
    """Tell what to do where memory ends. Raises: LimitReached."""
    import torch

    try:
        yield
    except (MemoryError, torch.OutOfMemoryError, RuntimeError) as error:
        texts = ("out of memory", "can't allocate memory", "not enough memory")
        if not isinstance(error, MemoryError) and not any(text in str(error).lower() for text in texts):
            raise
        raise LimitReached(f"out of memory {remedy}") from error


def _arguments(plan: TrainingPlan, dev: Sequence[TokenizedExample], config: TuningConfig) -> Any:
    import torch
    import transformers

    thrifty = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}
    arguments = transformers.TrainingArguments(
        output_dir=str(Path(config.out) / "checkpoints"),
        max_steps=plan.steps,
        per_device_train_batch_size=config.micro_batch,
        per_device_eval_batch_size=config.micro_batch,
        gradient_accumulation_steps=config.batch // (config.micro_batch * process_count()),
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine" if config.schedule == "cosine" else "constant_with_warmup",
        warmup_steps=round(config.warm_up * plan.steps),
        weight_decay=config.weight_decay,
        bf16=config.precision == "bf16",
        use_cpu=not torch.cuda.is_available(),
        **(thrifty if config.gradient_checkpointing else {}),
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="steps",
        save_steps=config.save_every,
        save_total_limit=_CHECKPOINTS,
        eval_strategy="steps" if dev else "no",
        eval_steps=config.save_every,
        load_best_model_at_end=bool(dev),
        metric_for_best_model="eval_loss" if dev else None,
        greater_is_better=False if dev else None,
        prediction_loss_only=True,
        label_names=["labels"],
        remove_unused_columns=False,
        report_to=[],
        disable_tqdm=True,
        seed=config.seed,
    )
    arguments._n_gpu = min(arguments.n_gpu, 1)  # several GPUs are for torchrun
    return arguments


def _make_trainer(
    model: Any,
    plan: TrainingPlan,
    dev: Sequence[TokenizedExample],
    config: TuningConfig,
    log: TrainingLog,
    on_step: Callable[[int, float], None],
) -> Any:
    import transformers

    def record(step: int, figures: dict[str, float]) -> None:
        loss = float(figures.get("loss", figures.get("eval_loss", 0.0)))
        number = loss if math.isfinite(loss) else None
        if "loss" in figures:
            log.add(step, loss=number, rate=float(figures["learning_rate"]))
        elif "eval_loss" in figures:
            log.add(step, dev_loss=number)
        if number is None:
            raise UsageError(
                f"the loss of update {step} is {loss}: the training has diverged; begin anew in another folder with a "
                f"lower learning_rate than {config.learning_rate:g}, or a longer warm_up"
            )
        if "loss" in figures:
            on_step(step, loss)

    trainer = _trainer_class(record)(
        model=model,
        args=_arguments(plan, dev, config),
        train_dataset=[plan.rows[place] for place in plan.order],
        eval_dataset=sorted(dev, key=lambda row: len(row)) or None,
        data_collator=lambda rows: collate(rows, config.max_length),
        callbacks=[_guard(lambda: trainer.evaluate() if dev else None, lambda: 0 < config.max_seconds <= log.seconds)],
    )
    trainer.remove_callback(transformers.PrinterCallback)
    # The loss is divided by the targets of the whole update, not of each micro-batch.
    trainer.model_accepts_loss_kwargs = trainer.loss_is_scaled_for_ga = True
    return trainer


def _trainer_class(record: Callable[[int, dict[str, float]], None]) -> Any:
    """The Trainer of this module; transformers is imported only here.

    Args:
        record: Called with the update and what transformers logs of it.
    """
    import torch
    import transformers

    class AnswerTrainer(transformers.Trainer):  # type: ignore[misc]
        """Takes rows in their order, and the logits of those places alone that a loss is taken of."""

        def _get_train_sampler(self, train_dataset: Any = None) -> Any:
            return torch.utils.data.SequentialSampler(train_dataset or self.train_dataset)

        def compute_loss(
            self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            outputs, loss, count = answer_loss(model, inputs)
            loss = loss / (count if num_items_in_batch is None else num_items_in_batch)
            if num_items_in_batch is not None and self.args.average_tokens_across_devices:
                loss = loss * self.accelerator.num_processes
            return (loss, outputs) if return_outputs else loss

        def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
            super().log(logs, *args, **kwargs)
            record(self.state.global_step, logs)

    return AnswerTrainer


def _guard(measure: Callable[[], object], over: Callable[[], bool]) -> Any:
    """A callback that seals checkpoints, and stops the training, with a last checkpoint, once its time is over.

    Args:
        measure: Takes the dev loss of the untrained model. Before the training that would leave the model prepared for
            measuring, and several processes would not add up their gradients.
    """
    import torch
    import transformers

    class CheckpointGuard(transformers.TrainerCallback):  # type: ignore[misc]
        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.global_step == 0:
                measure()

        def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.is_world_process_zero:
                seal_checkpoint(Path(args.output_dir) / f"checkpoint-{state.global_step}")

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            decisions = [over()]
            if process_count() > 1:  # their clocks differ
                torch.distributed.broadcast_object_list(decisions)
            if decisions[0]:
                control.should_training_stop = control.should_save = True
                control.should_evaluate = str(getattr(args.eval_strategy, "value", args.eval_strategy)) != "no"

    return CheckpointGuard()


def collate(rows: Sequence[TokenizedExample], max_length: int) -> dict[str, Any]:
    """Rows as tensors of one length, a multiple of 64 or `max_length`, padded on the right.

    No attention mask is needed: a token attends only to its left.
    """
    import torch

    longest = max(len(row) for row in rows)
    length = max(longest, min(-(-longest // _LENGTHS) * _LENGTHS, max_length))

    def padded(values: Sequence[list[int]], filler: int) -> Any:
        return torch.tensor([[*row, *([filler] * (length - len(row)))] for row in values])

    return {
        "input_ids": padded([row.ids for row in rows], 0),
        "labels": padded([row.labels for row in rows], IGNORED),
    }


def answer_loss(model: Any, inputs: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Outputs, summed cross-entropy of the answers' tokens, and their number.

    The output layer sees the hidden states alone that predict a target: with 49,000 words, and answers of a tenth of
    the text, all of them would cost as much memory as the rest of the model. The outputs' logits are therefore those
    of the targets, (targets, vocabulary).
    """
    import accelerate
    import torch

    targets = inputs["labels"][:, 1:]
    chosen = targets != IGNORED
    texts = {name: value for name, value in inputs.items() if name != "labels"}
    whole = accelerate.utils.extract_model_from_parallel(model, keep_torch_compile=False)  # of several processes
    head = whole.get_output_embeddings()
    selection = head.register_forward_pre_hook(lambda layer, states: (states[0][:, :-1][chosen], *states[1:]))
    try:
        outputs = model(**texts, use_cache=False)
    finally:
        selection.remove()
    loss = torch.nn.functional.cross_entropy(outputs.logits.float(), targets[chosen], reduction="sum")
    return outputs, loss, chosen.sum().clamp(min=1)
