"""A profile: what a model is given, and what it is held to. Nothing else in the code asks how strong a model is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from protocols.errors import UsageError

__all__ = ["FEATURES", "LARGE", "PROFILES", "SMALL", "TINY", "Profile", "open_profile", "profile_of", "without"]


def _feature(text: str) -> Any:
    """A field that an ablation can turn off; `text` is the reference of `--without`."""
    return field(metadata={"feature": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What fits a model.

    Args:
        prompt_tokens: Most tokens of a prompt, estimated; a longer conversation loses its oldest turns.
        output_tokens: Most tokens of one program. An answer that is cut there is continued once.
        tools: Tools that are offered for a question.
        described: Of these, the ones with a description; of the others the signature is shown.
        documentation: "compact" shows the fields that other tools take first and cuts the rest, "full" shows all.
        fields: Fields of an object in a response that are shown, where `documentation` is "compact".
        example: Begin with a solved question.
        prefill: Begin the answer with an open code block; without it the model may write text before the program.
        reflections: Revisions of a program (the paper's alpha).
    """

    name: str
    prompt_tokens: int
    output_tokens: int
    tools: int
    described: int
    documentation: Literal["compact", "full"]
    fields: int
    example: bool
    prefill: bool
    reflections: int
    check: bool = _feature("check programs before they run")
    autofix: bool = _feature("fix what is wrong where there is one way to do it, and leave out reads that nothing uses")
    hints: bool = _feature("say for each identifier which call provides it")
    closure: bool = _feature("offer the providers of the identifiers that an offered tool takes")
    meaning: bool = _feature("choose tools and solved questions by word vectors, and not by words alone")
    planner: bool = _feature("show plan sketches: a few lines of a program from the data flow")
    demonstrations: bool = _feature("show solved questions like this one, where a store has them")
    focus: bool = _feature("show a revision the functions that it needs, and not the whole conversation")
    restart: bool = _feature("ask anew without the program when the model repeats a failed one")
    challenge: bool = _feature("ask again when findings speak against an answer; else they are warnings")
    stable: bool = _feature("write a small API down whole, the same for every question")

    def for_mode(self, mode: str) -> Profile:
        """The profile of a mode: only `attribute` has the features that go beyond the first prompt."""
        if mode == "attribute":
            return self
        off: dict[str, Any] = dict.fromkeys(FEATURES.keys() - PROMPT_FEATURES, False)
        return replace(self, **off, reflections=0 if mode == "none" else self.reflections)

    def within(self, context: int | None) -> Profile:
        """The profile with room for prompt and program in a context window of so many tokens."""
        if context is None:
            return self
        output = min(self.output_tokens, context // 4)
        return replace(self, output_tokens=output, prompt_tokens=min(self.prompt_tokens, context - output))


FEATURES: Mapping[str, str] = {
    entry.name: entry.metadata["feature"] for entry in fields(Profile) if "feature" in entry.metadata
}
"""By name, what each feature does."""

PROMPT_FEATURES = frozenset({"hints", "closure", "meaning", "planner", "demonstrations", "stable"})
"""Features of the first prompt, which every mode has."""

SMALL = Profile(
    name="small",
    prompt_tokens=6_000,
    output_tokens=512,
    tools=20,
    described=6,
    documentation="compact",
    fields=14,
    example=True,
    prefill=True,
    reflections=3,
    **dict.fromkeys(FEATURES, True),
)
"""For models of a few billion parameters: short prompts, and help wherever a document or a reply decides."""

TINY = replace(SMALL, name="tiny", prompt_tokens=1_000, output_tokens=256, tools=5, fields=5, example=False)
"""For models of a few hundred million parameters that were tuned on such prompts: they need no example."""

LARGE = Profile(
    name="large",
    prompt_tokens=60_000,
    output_tokens=4_096,
    tools=60,
    described=60,
    documentation="full",
    fields=14,
    example=True,
    prefill=False,
    reflections=3,
    **{name: name in {"hints", "closure", "meaning", "demonstrations"} for name in FEATURES},
)
"""For strong models: full documentation, room to write, and programs that run as they were written."""

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (TINY, SMALL, LARGE)}


def profile_of(model: str) -> Profile:
    """The profile of a model that names none: `large` behind an OpenAI-compatible endpoint, else `small`.

    A model of the catalogue has its own.

    A record (`replay:FILE`) has that of the model that it was made with.
    """
    if model.startswith("replay:"):
        from atc.models.replay import recorded_model

        model = recorded_model(Path(model.removeprefix("replay:")))
    if model.startswith("openai:"):
        return LARGE
    from atc.engines.files import CATALOGUE

    base = model.partition(":")[2].partition("+")[0]
    return next((PROFILES[entry.profile] for entry in CATALOGUE if entry.name == base), SMALL)


def open_profile(name: str) -> Profile:
    """A profile by its name, or from a YAML or JSON file: `base: small` (or another name), and the fields to change.

    Raises: UsageError: There is no such profile, or a field is unknown or of another type.
    """
    if name in PROFILES:
        return PROFILES[name]
    file = Path(name)
    if not file.is_file():
        raise UsageError(f"there is no profile {name!r}: give {', '.join(PROFILES)} or a file")
    import yaml

    try:
        data = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{file} cannot be read as a profile: {error}") from None
    if not isinstance(data, dict) or data.get("base") not in PROFILES:
        raise UsageError(f"{file}: a profile begins with `base: ` and one of {', '.join(PROFILES)}")
    base = PROFILES[data.pop("base")]
    for key, value in data.items():
        if key not in {entry.name for entry in fields(Profile)} or key == "name":
            raise UsageError(f"{file}: a profile has no field {key!r}")
        expected = type(getattr(base, key))
        if type(value) is not expected or (key == "documentation" and value not in ("compact", "full")):
            raise UsageError(f"{file}: {key} is {value!r}, and must be like {getattr(base, key)!r}")
        if expected is int and value < (key != "reflections"):
            raise UsageError(f"{file}: {key} is {value}, and must be larger")
    return replace(base, **data, name=file.stem)


def without(profile: Profile, features: Iterable[str]) -> Profile:
    """A profile with some features turned off. Raises: UsageError: There is no such feature."""
    names = tuple(features)
    if unknown := sorted(set(names).difference(FEATURES)):
        raise UsageError(f"there is no feature {unknown[0]!r} to leave out: {', '.join(FEATURES)}")
    off: dict[str, Any] = dict.fromkeys(names, False)
    return replace(profile, **off)
