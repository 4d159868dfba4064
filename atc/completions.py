"""Ask the model for one question: within its limits, or from the journal, and counted either way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from atc.models import Completion, Message, Model, Usage
from atc.models.base import FunctionSpec, Layout, ModelRequest, Progress, answer, request_hash, split_reasoning
from atc.question_limits import Deadline, Spending
from atc.resume import close_request, note_cut_answer, note_open_request, recorded_completion
from protocols.errors import LimitReached, ModelError
from protocols.quoting import visible
from sandbox import Journal

if TYPE_CHECKING:
    from atc.interruption import Interruption

__all__ = ["Asking", "Completions"]


@dataclass(frozen=True, slots=True)
class Asking:
    """What requests to the model go by.

    Args:
        open_model: Gives the model; called when it is needed. Raises: ModelError.
        journal: Where answers are kept, and found when a solve goes on.
        interruption: What another thread may end the solve with.
        on_progress: Told what the model has read or written.
        seed: Of sampled answers.
        most: Requests that a question may have, all tries together; 0 for no limit.
    """

    open_model: Callable[[], Model]
    journal: Journal | None
    interruption: Interruption | None
    on_progress: Callable[[Progress], None]
    seed: int
    most: int


class Completions:
    """The requests of one question; `usage` is what they cost so far, and `trial` the try that they are of."""

    def __init__(self, asking: Asking, spending: Spending, deadline: Deadline) -> None:
        self.usage = Usage()
        self.trial = 1
        self._asking = asking
        self._spending = spending
        self._deadline = deadline
        self._requests = 0

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        max_tokens: int,
        functions: Sequence[FunctionSpec] = (),
        layout: Layout = "chat",
    ) -> Completion:
        """Ask the model, unless the journal has its answer; it reads no control characters, whatever is quoted.

        The first try takes the likeliest answer, later ones a sample, lest it be the same.
        Raises: LimitReached: The answer would go beyond a limit of the question, or was cut by one. ModelError.
        """
        messages = [m if m.role == "assistant" else replace(m, content=visible(m.content)) for m in messages]
        most, journal = self._asking.most, self._asking.journal
        if most and self._requests >= most:
            raise LimitReached(f"no answer within {most} model calls; --max-model-calls allows more")
        self._requests += 1
        key = request_hash(messages, stop, max_tokens, functions, layout)
        recorded = recorded_completion(journal, self._requests - 1, key) if journal is not None else None
        if recorded is not None:
            self.count(recorded.usage, messages, functions, recorded.text)
            return recorded
        room = self._spending.room(messages, functions, max_tokens)
        seed = self._asking.seed + self.trial - 1
        request = ModelRequest(
            messages,
            stop,
            room,
            None if self.trial == 1 else seed,
            self._progressed,
            functions,
            layout,
            max_tokens if room < max_tokens else None,
        )
        completion = self._answered(request, key)
        self.count(completion.usage, messages, functions, completion.text)
        if (reached := self._spending.cut(completion.finish)) is not None:
            if journal is not None:
                note_cut_answer(journal, completion.usage)
                close_request(journal)
            raise reached
        if journal is not None:
            journal.answer(self._requests - 1, key, asdict(completion))
        return completion

    def count(
        self, usage: Usage, messages: Sequence[Message] = (), functions: Sequence[FunctionSpec] = (), text: str = ""
    ) -> None:
        """Count what a request to the model cost."""
        self.usage += usage
        self._spending.add(usage, messages, functions, text)

    def lose(self, usage: Usage) -> None:
        """Count requests whose answers nobody took, by their estimate."""
        self.usage += usage
        self._spending.add_lost(usage)

    def _answered(self, request: ModelRequest, key: str) -> Completion:
        """Ask the model; where another thread may end the solve, in a thread that is then left behind."""
        model, interruption, journal = self._asking.open_model(), self._asking.interruption, self._asking.journal
        if interruption is not None:
            interruption.check()  # what is not sent costs nothing
        lost = self._spending.lost(request.messages, request.functions)
        if journal is not None:
            note_open_request(journal, self._requests - 1, key, lost)
        try:
            if interruption is None:
                return answer(model, request)
            return interruption.call(lambda: answer(model, request))
        except ModelError:
            if journal is not None:
                close_request(journal)
            raise
        except KeyboardInterrupt:
            self.lose(lost)
            if interruption is not None:
                interruption.set()  # ends what is left behind, too
            if self._deadline.expired:
                raise self._deadline.reached() from None
            raise

    def _progressed(self, progress: Progress) -> None:
        """The model has read or written more."""
        if self._asking.interruption is not None:
            self._asking.interruption.check()
        reasoning, text = split_reasoning(progress.text)
        self._asking.on_progress(replace(progress, text=text, reasoning=progress.reasoning + reasoning))
