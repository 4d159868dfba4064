"""A profile: what a model is given, and what it is held to. Nothing else in the code asks how strong a model is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from protocols.bounded_files import read_bounded
from protocols.errors import UsageError

__all__ = ["FEATURES", "LARGE", "PROFILES", "SMALL", "TINY", "Profile", "open_profile", "profile_of", "without"]


def _feature(text: str) -> Any:
    """A field that an ablation can turn off; `text` is the reference of `--without`."""
    return field(default=True, metadata={"feature": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What fits a model.

    Args:
        prompt_tokens: Most tokens of a prompt, estimated; a longer conversation loses its oldest turns.
        output_tokens: Most tokens of one program. An answer that is cut there is continued once.
        tools: Tools that are offered for a question.
        described: Of these, the ones with a description; the others have a line each.
        described_tokens: Most tokens of the text of the tools, estimated, beyond which details go.
        documentation: "compact" shows the fields that other tools take first and cuts the rest, "full" shows all.
        fields: Fields of an object in a response that are shown, where `documentation` is "compact".
        example: Begin with a solved question.
        prefill: Begin the answer with an open code block; without it the model may write text before the program.
        reflections: Revisions of a program (the paper's alpha).
        help: The name of what helps the model beside asking it (see atc.help); empty for none.
        help_off: Parts of that help which are turned off.
    """

    name: str
    prompt_tokens: int
    output_tokens: int
    tools: int
    described: int
    described_tokens: int
    documentation: Literal["compact", "full"]
    fields: int
    example: bool
    prefill: bool
    reflections: int
    help: str = ""
    help_off: tuple[str, ...] = ()
    hints: bool = _feature("say for each identifier which call provides it")
    closure: bool = _feature("offer the providers of the identifiers that an offered tool takes")
    meaning: bool = _feature("choose tools and solved questions by word vectors, and not by words alone")
    demonstrations: bool = _feature("show solved questions like this one, where a store has them")
    stable: bool = _feature("write a small API down whole, the same for every question")

    def within(self, context: int | None) -> Profile:
        """The profile with room for prompt and program in a context window of so many tokens."""
        if context is None:
            return self
        output = min(self.output_tokens, context // 4)
        prompt = min(self.prompt_tokens, context - output)
        return replace(
            self, output_tokens=output, prompt_tokens=prompt, described_tokens=min(self.described_tokens, prompt)
        )


FEATURES: Mapping[str, str] = {
    entry.name: entry.metadata["feature"] for entry in fields(Profile) if "feature" in entry.metadata
}
"""By name, what each feature of the first prompt does; a help has parts of its own (`atc.help.parts`)."""

SMALL = Profile(
    name="small",
    prompt_tokens=6_000,
    output_tokens=512,
    tools=20,
    described=6,
    described_tokens=6_000,
    documentation="compact",
    fields=14,
    example=True,
    prefill=True,
    reflections=3,
    help="small",
)
"""For models of a few billion parameters: short prompts, and help wherever a document or a reply decides."""

TINY = replace(
    SMALL, name="tiny", prompt_tokens=1_000, described_tokens=1_000, output_tokens=256, tools=5, fields=5, example=False
)
"""For models of a few hundred million parameters that were tuned on such prompts: they need no example."""

LARGE = Profile(
    name="large",
    prompt_tokens=60_000,
    output_tokens=4_096,
    tools=60,
    described=8,
    described_tokens=6_000,
    documentation="full",
    fields=14,
    example=True,
    prefill=False,
    reflections=3,
)
"""For strong models: full documentation, room to write, and programs that run as they were written.

Of the development splits of RestBench, eight described tools with those that provide their identifiers are all that is
needed in 30 of 30 tasks over TMDB and 14 of 17 over Spotify; the others have a line, and a model may ask to see them.
"""

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (TINY, SMALL, LARGE)}


SMALL_CONTEXT = 8_192
"""Tokens of a context window below which a model that declares nothing counts as small: no strong model has less."""


def profile_of(model: str | object) -> Profile:
    """The profile of a model, given by name or as an object, as it is declared; `large` where nothing declares one.

    An entry of the catalogue declares one, and so may an object, by its attribute `profile`. A record (`replay:FILE`)
    has that of the model that it was made with.
    """
    name = model if isinstance(model, str) else getattr(model, "name", "")
    if name.startswith("replay:"):
        from atc.models.replay import recorded_model

        name = recorded_model(Path(name.removeprefix("replay:")))
    from atc.engines.files import CATALOGUE

    base = name.partition(":")[2].partition("+")[0]
    listed = next((entry.profile for entry in CATALOGUE if entry.name == base), None)
    declared = listed or getattr(model, "profile", None) or LARGE
    return declared if isinstance(declared, Profile) else open_profile(declared)


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

    from protocols.settings_yaml import parse_settings

    try:
        data = parse_settings(read_bounded(file))
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read as a profile: {error}") from None
    if not isinstance(data, dict) or data.get("base") not in tuple(PROFILES):
        raise UsageError(f"{file}: a profile begins with `base: ` and one of {', '.join(PROFILES)}")
    base = PROFILES[data.pop("base")]
    for key, value in data.items():
        if key not in {entry.name for entry in fields(Profile)} or key == "name":
            raise UsageError(f"{file}: a profile has no field {key!r}")
        if key == "help_off" and not (isinstance(value, list) and all(isinstance(part, str) for part in value)):
            raise UsageError(f"{file}: help_off is {value!r}, and must be a list such as [planner]")
        value = data[key] = tuple(value) if isinstance(value, list) else value
        expected = type(getattr(base, key))
        if type(value) is not expected or (key == "documentation" and value not in ("compact", "full")):
            raise UsageError(f"{file}: {key} is {value!r}, and must be like {getattr(base, key)!r}")
        if expected is int and value < (key != "reflections"):
            raise UsageError(f"{file}: {key} is {value}, and must be larger")
    return replace(base, **data, name=file.stem)


def without(profile: Profile, features: Iterable[str]) -> Profile:
    """A profile with some features turned off; those that are none of its own are parts of its help.

    Raises: UsageError: There is no such feature.
    """
    names = tuple(features)
    own = dict.fromkeys(FEATURES.keys() & names, False)
    parts = tuple(name for name in names if name not in FEATURES)
    if parts and not profile.help:
        raise UsageError(
            f"there is no feature {parts[0]!r} to leave out of the profile {profile.name}: {', '.join(FEATURES)}"
        )
    changed: dict[str, Any] = {**own, "help_off": (*profile.help_off, *parts)}
    return replace(profile, **changed)
