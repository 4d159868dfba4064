"""Ten prompts as readable files, for whoever changes one: `python -m tests.prompt_snapshots` writes them anew.

The model is scripted, and the API is the simulated cinema, so that the same code gives the same text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from atc import Agent
from protocols import load
from protocols.samples import sample
from tests.scripted import ScriptedModel

__all__ = ["FOLDER", "prompts"]

FOLDER = Path(__file__).with_name("prompts")
QUESTION = "Who directed the film The Silent Harbor?"
WRONG_KEY = 'film = GET_films(query="The Silent Harbor")["films"][0]\nprint(film["director"])'
WRONG_CALL = 'print(GET_films(query="The Silent Harbor")["films"][90]["title"])'
CALL = 'Action: GET_films(query="The Silent Harbor")'

CASES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "small_first": ("small", "attribute", ()),
    "small_checked": ("small", "attribute", (WRONG_KEY,)),
    "small_failed": ("small", "attribute", (WRONG_CALL,)),
    "tiny_first": ("tiny", "attribute", ()),
    "large_first": ("large", "attribute", ()),
    "large_failed": ("large", "attribute", (WRONG_KEY,)),
    "large_naive": ("large", "naive", (WRONG_KEY,)),
    "react": ("large", "react", (CALL,)),
    "codeact": ("large", "codeact", (f"```python\n{WRONG_KEY}\n```",)),
    "conagents": ("large", "conagents", ()),
}
"""By name: the profile, the mode, and what the model has written before."""


def prompts() -> dict[str, str]:
    """The last prompt of each case, turn by turn."""
    texts = {}
    for name, (profile, mode, written) in CASES.items():
        model = ScriptedModel(*written)
        with Agent(load(sample("cinema")), model, mode, profile=profile, simulate=True) as agent:
            agent.solve(QUESTION)
        texts[name] = "\n".join(f"=== {message.role}\n{message.content.rstrip()}" for message in model.asked[-1]) + "\n"
    return texts


def main() -> None:
    """Write the files anew."""
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.txt"):
        file.unlink()
    for name, text in prompts().items():
        (FOLDER / f"{name}.txt").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
