"""What a stranger's small files can make of a command: prices, profiles, records, saved programs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from atc.apps.saved.tools import load_saved
from atc.costs import read_prices
from atc.models.replay import ReplayModel
from atc.profile import open_profile
from protocols.combined import load_specs
from protocols.errors import UsageError

ALIASES = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 12)
)
"""Twelve lines that stand for a million million values."""
HEX = "0x" + "F" * 5000
TABLE = "currency: USD\nsource: s\ndate: 2026-01-01\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{ALIASES}{TABLE}models: *a11\n",
        f"{TABLE}models: {{m: {{prompt: {HEX}, completion: 1}}}}\n",
        f"{TABLE}models: {{m: {{prompt: {'9' * 4000}, completion: 1}}}}\n",
    ],
)
def test_a_price_table_cannot_wear_out_its_reader(tmp_path: Path, text: str) -> None:
    """Aliases that stand for more than memory holds, and numbers without end, are a message."""
    (file := tmp_path / "prices.yaml").write_text(text)
    with pytest.raises(UsageError, match=r"prices\.yaml"):
        read_prices(file)


@pytest.mark.parametrize(
    "text",
    [
        f"{ALIASES}base: *a11\n",
        "base: [a]\n",
        "base: small\nhelp_off: [[1]]\n",
        f"base: small\nprompt_tokens: -{HEX}\n",
    ],
)
def test_a_profile_cannot_wear_out_its_reader(tmp_path: Path, text: str) -> None:
    """The same for a profile, and for values of other types."""
    (file := tmp_path / "profile.yaml").write_text(text)
    with pytest.raises(UsageError, match=r"profile\.yaml"):
        open_profile(str(file))


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": None},
        {"text": ["a"]},
        {"finish": 1},
        {"usage": {"prompt_tokens": "x"}},
        {"usage": {"prompt_tokens": -1}},
    ],
)
def test_a_record_of_answers_is_looked_at(tmp_path: Path, wrong: dict[str, object]) -> None:
    """An answer that is no text, or tokens that are no number, are a message with the line."""
    entry = {"hash": "h", "model": "m", "text": "t", "finish": "stop", "usage": {"prompt_tokens": 1}, **wrong}
    (file := tmp_path / "record.jsonl").write_text(json.dumps(entry))
    with pytest.raises(UsageError, match="line 1: not a recorded answer"):
        ReplayModel(file)


def document(title: str) -> str:
    """An API that wants a token."""
    return json.dumps(
        {
            "openapi": "3.0.0",
            "info": {"title": title, "version": "1"},
            "servers": [{"url": "http://127.0.0.1:9"}],
            "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
            "security": [{"token": []}],
            "paths": {"/pets": {"get": {"operationId": "list_pets", "responses": {"200": {"description": "ok"}}}}},
        }
    )


def save(folder: Path, name: str, digest: str) -> None:
    """A saved program NAME.py of the document NAME.json, which claims a digest."""
    data = "'format': 'atc-saved-1', 'question': 'q', 'title': 't', 'date': '', 'answer': '', 'contracts': {}"
    data += f", 'parameters': (), 'function': '{name}', 'digest': '{digest}', 'api': ('{name}.json',)"
    (folder / f"{name}.py").write_text(f"SAVED = {{{data}}}\n\n\ndef {name}():\n    print(list_pets())\n")


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "broken link"])
def test_what_is_no_file_is_skipped(tmp_path: Path, kind: str) -> None:
    """Opening a pipe waited for somebody to write to it; now a warning names it, and the programs are offered."""
    folder, odd = tmp_path, tmp_path / "odd.py"
    (folder / "api.json").write_text(document("api"))
    save(folder, "api", load_specs([str(folder / "api.json")]).digest)
    if kind == "pipe":
        os.mkfifo(odd)
    elif kind == "folder":
        odd.mkdir()
    else:
        odd.symlink_to("/dev/zero" if kind == "device" else "nowhere")
    protocol = load_saved(str(folder))

    assert [tool.name for tool in protocol.tools] == ["api"]
    assert protocol.warnings == (f"{odd} is skipped: it is no file",)


def test_a_saved_program_cannot_claim_to_be_of_another_api(tmp_path: Path) -> None:
    """A credential is for the API of one document: the documents are compared, not the digests that files name."""
    for name in ("honest", "foreign"):
        (tmp_path / f"{name}.json").write_text(document(name))
    digest = load_specs([str(tmp_path / "honest.json")]).digest
    for name in ("honest", "foreign"):
        save(tmp_path, name, digest)
    with pytest.raises(UsageError, match="programs of several APIs"):
        load_saved(str(tmp_path), ["bearer:env:TOKEN_OF_A_TEST"])
