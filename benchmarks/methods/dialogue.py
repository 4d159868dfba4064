"""How calls are written in a conversation: as text, or as the tool calls of an endpoint.

The search is the same for all forms. A form says how the conversation begins, reads a message, and writes what came of
its calls.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from atc.models import Completion, Message
from atc.models.base import FunctionSpec, Layout
from atc.prompting import fill
from atc.search_tree import SearchStep
from benchmarks.methods.actions import FINISH, GIVE_UP, Action, read_action, read_answer
from benchmarks.methods.budget import OBSERVATION
from benchmarks.methods.method_try import MethodTry, correction
from benchmarks.methods.reply_reader import reader_name

__all__ = ["PUBLISHED_FINISH", "Dialogue", "Reading", "TextDialogue", "function_names"]

PUBLISHED_FINISH = "Finish"
"""The one function that ends a published search, with `return_type` and `final_answer`."""

_THOUGHT = re.compile(r"^[\s*#>-]*thought[\s*]*:[\s*]*", re.IGNORECASE)
_ACTION_LINE = re.compile(r"^[\s*#>-]*action\b.*", re.IGNORECASE | re.MULTILINE | re.DOTALL)


def function_names(trial: MethodTry, compat: bool) -> dict[str, str]:
    """The tools by the names that the model sees: those of programs, the likeliest first.

    Under `compat` they are the published ones, in the order of the document, as a query lists them.
    """
    if not compat:
        return {name: name for name in trial.tools}
    names: dict[str, str] = {}
    for tool in trial.protocol.tools:
        if tool.name in trial.tools:
            names.setdefault(tool.operation_id or tool.name, tool.name)
    return names


@dataclass(frozen=True, slots=True)
class Reading:
    """A message of the model: its thought, its calls, and the turn of the conversation that it becomes."""

    thought: str
    actions: tuple[Action, ...]
    message: Message


class Dialogue(ABC):
    """A form of conversation; `stop` ends a message, and `functions` are offered with each request.

    `layout` is that of `atc.models.base.ModelRequest`.
    """

    stop: Sequence[str] = ()
    functions: Sequence[FunctionSpec] = ()
    layout: Layout = "chat"
    reader = ""
    """The action that shows more of a reply; empty where there is none."""
    text_answers = False
    """Whether a text without a call is the answer when the model insists on it."""

    @abstractmethod
    def begin(self) -> list[Message]:
        """The conversation up to the first message of the model."""

    @abstractmethod
    def read(self, completion: Completion) -> Reading:
        """Read a message. Raises: BadActionError: It has no usable call."""

    def prose(self, completion: Completion) -> str:
        """The text of a message without a call, as an answer; empty where it has none."""
        return "" if completion.calls else _thought_of(completion.text.strip())

    @abstractmethod
    def correct(self, completion: Completion, why: str) -> list[Message]:
        """A message without a usable call, and the answer to it."""

    @abstractmethod
    def observe(self, reading: Reading, steps: Sequence[SearchStep]) -> list[Message]:
        """The results of the calls of a message, in their order."""

    def with_note(self, messages: Sequence[Message], note: str) -> list[Message]:
        """The conversation with a note at its end, for the next message alone."""
        if messages[-1].role == "user":
            return [*messages[:-1], Message("user", f"{messages[-1].content}\n\n{note}")]
        return [*messages, Message("user", note)]


class TextDialogue(Dialogue):
    """A thought and `Action: NAME(argument=value)`.

    Args:
        prompt: The template of the instruction.
        give_up: Whether a branch can be given up.
        compat: With the published finish function and names, without worked example, plans and hints.
    """

    stop = (f"\n{OBSERVATION.strip()}",)

    def __init__(self, trial: MethodTry, prompt: str, *, give_up: bool, compat: bool = False) -> None:
        self._trial = trial
        self._prompt = prompt
        self._compat = compat
        names = function_names(trial, compat)
        self.reader = "" if compat else reader_name(names)
        own = (FINISH, GIVE_UP, self.reader) if give_up else (FINISH, self.reader)
        self._names = (*names, *((PUBLISHED_FINISH,) if compat else own))

    def begin(self) -> list[Message]:
        """As `Dialogue.begin`."""
        if not self._compat:
            return self._trial.begin(self._prompt, "react_examples", reader=self.reader)
        trial = self._trial
        functions = trial.functions(bare=True)
        for published, name in function_names(trial, True).items():
            functions = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", published, functions)
        question = fill("question", tools=functions, query=trial.offer.request)
        instruction = fill("search_compat", today=trial.query.today)
        return [Message("system", instruction.strip()), Message("user", question.strip())]

    def read(self, completion: Completion) -> Reading:
        """As `Dialogue.read`."""
        text = completion.text.strip()
        action = read_action(text, self._names)
        message = text[: action.end].rstrip()
        return Reading(_thought_of(message), (action,), Message("assistant", message))

    def correct(self, completion: Completion, why: str) -> list[Message]:
        """As `Dialogue.correct`."""
        return correction(completion.text.strip(), "bad_action", why=why)

    def observe(self, reading: Reading, steps: Sequence[SearchStep]) -> list[Message]:
        """As `Dialogue.observe`."""
        return [Message("user", OBSERVATION + step.observation) for step in steps]


def _thought_of(message: str) -> str:
    """The thought of a message without its action."""
    text = "" if read_answer(message) else _ACTION_LINE.sub("", message)
    return _THOUGHT.sub("", text).strip()


def finish_step(action: Action, text: str) -> SearchStep | None:
    """The step of an action that ends a branch; None for a call. An unusable published finish has code 2."""
    arguments = dict(action.arguments)
    match action.name, arguments.get("return_type"):
        case (str(name), _) if name == FINISH:
            return SearchStep(action.name, arguments, text, code=3)
        case (str(name), _) if name == GIVE_UP:
            return SearchStep(action.name, arguments, text, code=4)
        case (str(name), "give_up_and_restart") if name == PUBLISHED_FINISH:
            return SearchStep(action.name, arguments, text, code=4)
        case (str(name), "give_answer") if name == PUBLISHED_FINISH and arguments.get("final_answer"):
            return SearchStep(action.name, arguments, text, code=3)
        case (str(name), return_type) if name == PUBLISHED_FINISH:
            missing = "final_answer" if return_type == "give_answer" else "return_type"
            observation = json.dumps({"error": f"{PUBLISHED_FINISH} needs a usable {missing}", "response": ""})
            return SearchStep(action.name, arguments, text, observation, code=2)
    return None
