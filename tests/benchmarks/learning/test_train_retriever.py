"""`atc retrieve train`: an encoder for finding APIs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from atc.retrieval.tool_index import ToolDocument, ToolIndex, build_index
from benchmarks.learning.retriever import EncoderTraining
from protocols.errors import UsageError
from tests.atc_command import start


def test_training_needs_an_empty_folder(tmp_path: Path) -> None:
    """What lies in the folder is not overwritten."""
    file = queries(tmp_path)
    done = CliRunner().invoke(main, ["retrieve", "train", str(file), "--out", str(tmp_path)])

    assert done.exit_code == 2
    assert "is not empty" in done.output


def queries(folder: Path) -> Path:
    subjects = ["rain", "onions", "trains", "stars", "music", "tides"]
    data = [
        {
            "query": f"Please tell me about {subject} near the harbour",
            "query_id": number,
            "api_list": [
                {"category_name": "Daily", "tool_name": f"Tool {number}", "api_name": name, "api_description": text}
                for name, text in (("Find", f"finds {subject}"), ("List", f"lists {subject}"), ("Ping", "health"))
            ],
            "relevant APIs": [[f"Tool {number}", "Find"], [f"Tool {number}", "List"]],
        }
        for number, subject in enumerate(subjects)
    ]
    file = folder / "queries.json"
    file.write_text(json.dumps(data), "utf-8")
    return file


@pytest.mark.train
def test_an_encoder_is_trained_described_and_used(tmp_path: Path) -> None:
    """The folder has a card with data and settings; an index of it finds what was asked for.

    Figures on the questions of its training are said to be such, whatever their file is called.
    """
    file, encoder, index = queries(tmp_path), tmp_path / "encoder", tmp_path / "index"
    trained = CliRunner().invoke(main, ["retrieve", "train", str(file), "--out", str(encoder), "--epochs", "1"])
    figures = json.loads(trained.stdout)
    facts = json.loads((encoder / "training.json").read_text("utf-8"))
    built = CliRunner().invoke(main, ["retrieve", "build", str(file), "--out", str(index), "--encoder", str(encoder)])
    renamed = file.rename(tmp_path / "renamed.json")
    measured = CliRunner().invoke(main, ["retrieve", "eval", str(index), str(renamed)])
    asked = ["retrieve", "query", str(index), "Which tides are there?", "--json"]
    hits = json.loads(CliRunner().invoke(main, asked).stdout)["hits"]

    assert figures["steps"] == len(facts["losses"]) == 1
    assert (facts["questions"], facts["documents"]) == (6, 18)
    assert "6 questions over 18 documents" in (encoder / "README.md").read_text("utf-8")
    assert built.exit_code == 0
    assert {hit["tool"] for hit in hits[:2]} == {"Tool 5"}
    assert "trained on 6 of 6 questions; measure it on those held out" in " ".join(measured.stderr.split())


@pytest.mark.train
def test_an_index_is_of_the_weights_it_was_built_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trained anew in the same folder, the encoder is refused until the index is built again, with new vectors."""
    import torch

    from atc.retrieval.encoder import load_encoder

    document = ToolDocument("sky", "Weather", "Sky", "Tide", "When water is high.")
    index, encoder = tmp_path / "index", load_encoder("base")
    encoder.save(str(tmp_path / "encoder"))
    monkeypatch.chdir(tmp_path)
    build_index(index, [document], "encoder")
    before = np.array(ToolIndex(index).vectors)
    monkeypatch.chdir(tmp_path.parent)
    [hit] = ToolIndex(index).search("tides")
    with torch.no_grad():
        next(encoder.parameters()).add_(0.5)
    encoder.save(str(tmp_path / "encoder"))

    with pytest.raises(UsageError, match=r"other weights than when .* was built; repeat atc retrieve build"):
        ToolIndex(index).search("tides")
    build_index(index, [], str(tmp_path / "encoder"))
    assert hit.document == document
    assert ToolIndex(index).search("tides")
    assert not np.array_equal(before, ToolIndex(index).vectors)


@pytest.mark.train
def test_the_tools_of_one_question_do_not_compete() -> None:
    """A question's second tool is no negative of its first: with both alone, there is nothing left to learn."""
    from atc.retrieval.encoder import load_encoder
    from benchmarks.learning.retriever import _Trainer

    texts, asked = ["finds rain", "lists rain", "plays music"], "Will it rain?"
    alone = _Trainer(load_encoder("base"), texts[:2], [(asked, [0, 1])], EncoderTraining())
    beside = _Trainer(load_encoder("base"), texts, [(asked, [0, 1])], EncoderTraining())

    assert float(alone._loss([0]).detach()) == pytest.approx(0.0, abs=1e-6)
    assert float(beside._loss([0]).detach()) > 0.0


@pytest.mark.train
def test_a_hub_that_cannot_be_reached_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries would ask again and again before they say so."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    file = queries(tmp_path)
    process = start("retrieve", "train", file, "--out", tmp_path / "encoder", "--base", "someone/encoder")
    _, stderr = process.communicate()

    assert process.returncode == 2
    assert "someone/encoder is no encoder that can be read" in " ".join(stderr.split())
    assert "Retrying" not in stderr
