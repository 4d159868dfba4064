"""Adapters: in the name of a model, and added to the weights by each engine that takes them."""

from __future__ import annotations

import random
import shutil
import struct
from contextlib import closing
from pathlib import Path

import pytest

from atc.engines.files import CATALOGUE
from atc.engines.local import Engine
from atc.engines.names import identity, parse
from atc.models import Message, open_model
from protocols.errors import ATCError, ModelError, UsageError
from tests.benchmarks.learning.tiny_llama import VOCABULARY, header, make_llama, write_gguf

QUESTION = [Message("system", "Be short. " * 20), Message("user", "Hello"), Message("assistant", "Well")]
POSITIONS = 60
ADAPTER = {"general.architecture": "llama", "general.type": "adapter", "adapter.type": "lora"}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A file that says it is a model of llama."""
    return header(tmp_path / "base.gguf", {"general.architecture": "llama", "llama.context_length": 2048})


def test_a_name_has_the_hash_of_its_adapter(base: Path, tmp_path: Path) -> None:
    """A record of one training is not taken for one of the next: the name changes with the adapter's content."""
    adapter = header(tmp_path / "a.gguf", ADAPTER)
    name = f"local:{base}+{adapter}"
    first = identity(name)
    with closing(open_model(name)) as model, closing(open_model(first)) as again:
        assert model.name == again.name == first != name
        assert getattr(model, "context", None) == 2048

    header(adapter, {**ADAPTER, "general.name": "second"})

    assert identity(name) not in (first, name)
    with pytest.raises(ModelError, match=r"a\.gguf has changed: .*the name asks for [0-9a-f]{12}"):
        open_model(first)
    assert identity(f"local:{base}") == f"local:{base}"


def test_a_plus_may_be_part_of_a_path(tmp_path: Path) -> None:
    """The base ends at the first plus before which there is a file or a name of the catalogue."""
    folder = tmp_path / "a+b"
    folder.mkdir()
    model = header(folder / "m+n.gguf", {})
    adapter = header(folder / "x+y.gguf", {})

    assert parse(f"{model}+{adapter}") == parse(f"{model}+{adapter}#{identity(f'local:{model}+{adapter}')[-12:]}")
    assert (parse(f"{model}+{adapter}").base, parse(f"{model}+{adapter}").adapter) == (str(model), adapter)
    assert parse(str(model)).adapter is None
    assert parse(f"{CATALOGUE[1].name}+{adapter}").base == "smollm2-135m"


def test_files_that_do_not_fit_are_told_at_once(base: Path, tmp_path: Path) -> None:
    """Each is one sentence with the place and the remedy, before an engine is started."""
    adapter = header(tmp_path / "a.gguf", ADAPTER)
    foreign = header(tmp_path / "foreign.gguf", {**ADAPTER, "general.architecture": "qwen2"})
    text = tmp_path / "text.gguf"
    text.write_text("no model")
    folder = tmp_path / "adapter"
    folder.mkdir()
    cases: list[tuple[str, type[ATCError], str]] = [
        (f"local:{tmp_path}/none.gguf", ModelError, r"there is no file .*none\.gguf"),
        (f"local:{text}", ModelError, r"text\.gguf is no GGUF file"),
        (f"local:{adapter}", ModelError, r"is an adapter, not a model; give local:BASE\+"),
        (f"local:{base}+{tmp_path}/none.gguf", ModelError, r"there is no adapter .*none\.gguf"),
        (f"local:{base}+{text}", ModelError, r"text\.gguf is no GGUF file"),
        (f"local:{base}+{base}", ModelError, "no LoRA adapter; llama.cpp's convert_lora_to_gguf.py makes one"),
        (f"local:{base}+{foreign}", ModelError, r"another architecture \(qwen2\) than .*base\.gguf \(llama\)"),
        (f"local:{base}+{folder}", ModelError, "convert it with llama.cpp's convert_lora_to_gguf.py, or give hf:"),
        (f"openvino:{base}+{adapter}", UsageError, f"takes no adapter, .* give local:{base}"),
        ("local:unknown", UsageError, r"there is local:qwen2\.5-coder-1\.5b, local:smollm2-135m, or give the path"),
    ]
    for name, error, message in cases:
        with pytest.raises(error, match=message):
            open_model(name)


def test_metadata_that_is_cut_off_is_no_model(tmp_path: Path) -> None:
    """A file that ends in its metadata, or whose lengths cannot be, is damaged; nothing is read without end."""
    for number, rest in enumerate([b"", struct.pack("<IQQ", 3, 0, 2), struct.pack("<IQQQ", 3, 0, 1, 1 << 60)]):
        file = tmp_path / f"{number}.gguf"
        file.write_bytes(b"GGUF" + rest)
        with pytest.raises(ModelError, match=r"is no GGUF file, or a damaged one"):
            open_model(f"local:{file}")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a random model: base.gguf, `base` for transformers, and `adapter`, a LoRA adapter that matters."""
    import peft
    import torch

    folder = tmp_path_factory.mktemp("tiny")
    model = make_llama(architecture="qwen2")  # its GGUF file has the rows of transformers, in their order
    write_gguf(model, folder / "base.gguf")
    model.save_pretrained(folder / "base")
    settings = peft.LoraConfig(r=8, lora_alpha=16, target_modules=["down_proj"], task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(model, settings)
    for name, weights in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weights, std=0.3)
    adapted.save_pretrained(str(folder / "adapter"))
    return folder


def write_adapter(folder: Path, file: Path, inputs: int | None = None) -> Path:
    """The adapter of a folder as llama.cpp reads it; with fewer `inputs` than its model has it fits none."""
    import gguf
    from safetensors.torch import load_file

    writer = gguf.GGUFWriter(file, "qwen2")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 16)
    tensors = load_file(folder / "adapter_model.safetensors")
    for layer in range(2):
        for part, end in (("A", "a"), ("B", "b")):
            weights = tensors[f"base_model.model.model.layers.{layer}.mlp.down_proj.lora_{part}.weight"].numpy()
            rows = weights[:, :inputs].copy() if part == "A" else weights
            writer.add_tensor(f"blk.{layer}.ffn_down.weight.lora_{end}", rows)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def llama_tokens(file: Path, adapter: Path | None, tokens: list[int]) -> list[int]:
    """The next token of llama.cpp after each beginning of a text."""
    engine = Engine(file, 512, adapter=adapter, threads=2)
    request = {"n_predict": 1, "temperature": 0, "return_tokens": True, "cache_prompt": True}
    replies = [engine.post("/completion", {"prompt": tokens[: end + 1], **request}) for end in range(len(tokens))]
    engine.stop()
    return [reply["tokens"][0] if reply["tokens"] else VOCABULARY - 1 for reply in replies]


def expected_tokens(folder: Path) -> tuple[list[int], list[int]]:
    """A text of random tokens, and the next token after each beginning of it of the model with its adapter."""
    import peft
    import torch
    import transformers

    plain = transformers.AutoModelForCausalLM.from_pretrained(folder / "base")
    model = peft.PeftModel.from_pretrained(plain, str(folder / "adapter")).merge_and_unload()
    generator = random.Random(1)
    tokens = [generator.randrange(VOCABULARY - 1) for _ in range(POSITIONS)]
    with torch.inference_mode():
        return tokens, model(torch.tensor([tokens])).logits[0].argmax(-1).tolist()


def agreement(left: list[int], right: list[int]) -> float:
    """The share of positions with the same token."""
    return sum(a == b for a, b in zip(left, right, strict=True)) / len(left)


@pytest.mark.train
def test_the_local_engine_adds_an_adapter(tiny: Path, tmp_path: Path) -> None:
    """llama.cpp with the adapter has the next token of the merged model at 95 % of the positions."""
    tokens, expected = expected_tokens(tiny)
    adapter = write_adapter(tiny / "adapter", tmp_path / "a.gguf")

    assert agreement(llama_tokens(tiny / "base.gguf", adapter, tokens), expected) >= 0.95
    assert agreement(llama_tokens(tiny / "base.gguf", None, tokens), expected) < 0.7


@pytest.mark.train
def test_an_adapter_of_another_size_is_told(tiny: Path, tmp_path: Path) -> None:
    """The engine finds it at the first request."""
    adapter = write_adapter(tiny / "adapter", tmp_path / "a.gguf", inputs=32)
    with (
        closing(open_model(f"local:{tiny / 'base.gguf'}+{adapter}")) as model,
        pytest.raises(
            ModelError, match=r"could not load .*base\.gguf with .*a\.gguf: the adapter was trained on another"
        ),
    ):
        model.complete(QUESTION)


@pytest.mark.train
def test_transformers_adds_an_adapter(tiny: Path, tmp_path: Path) -> None:
    """`hf:` takes the folder that the training wrote; what it cannot add is told."""
    with pytest.raises(ModelError, match=r"is no adapter for hf:, which takes a folder"):
        open_model(f"hf:{tiny / 'base'}+{tiny / 'base.gguf'}")
    stretched = Path(shutil.copytree(tiny / "adapter", tmp_path / "adapter"))
    (stretched / "rope.json").write_text('{"rope_type": "linear", "factor": 2.0}')
    with pytest.raises(ModelError, match=r"trained with interpolated positions, .*take the folder merged"):
        open_model(f"hf:{tiny / 'base'}+{stretched}")
    model = open_model(f"hf:{tiny / 'base.gguf'}+{tiny / 'adapter'}")
    plain = open_model(f"hf:{tiny / 'base.gguf'}")

    assert model.complete(QUESTION, max_tokens=8).text != plain.complete(QUESTION, max_tokens=8).text
    assert model.name.startswith(f"hf:{tiny / 'base.gguf'}+{tiny / 'adapter'}#")
