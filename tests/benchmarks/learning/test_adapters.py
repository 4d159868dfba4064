"""Adapters: in the name of a model, converted for llama.cpp, and added to the weights by each engine."""

from __future__ import annotations

import json
import random
import shutil
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from atc.engines.files import CATALOGUE
from atc.engines.local import Engine
from atc.engines.names import identity, parse
from atc.models import Message, open_model
from protocols.errors import ATCError, ModelError, UsageError
from tests.benchmarks.learning.tiny_llama import VOCABULARY, header, make_llama, write_gguf

QUESTION = [Message("system", "Be short. " * 20), Message("user", "Hello"), Message("assistant", "Well")]
POSITIONS = 200
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
        (f"local:{base}+{base}", ModelError, "no LoRA adapter; `atc train adapter` makes one"),
        (f"local:{base}+{foreign}", ModelError, r"another architecture \(qwen2\) than .*base\.gguf \(llama\)"),
        (f"local:{base}+{folder}", ModelError, f"convert it with: atc train adapter {folder} --base {base}"),
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
    """A folder with a random llama: base.gguf, `base` for transformers, and `adapter`, a LoRA adapter that matters."""
    return random_model(tmp_path_factory.mktemp("tiny"), "llama")


def random_model(folder: Path, architecture: str, stored: str = "F32") -> Path:
    """Write base and adapter of an architecture; the GGUF file holds matrices as `stored`."""
    import peft
    import torch

    model = make_llama(architecture=architecture)
    for name, weights in model.named_parameters():  # a bias or a norm of a fresh model changes nothing
        if name.endswith(("bias", "q_norm.weight", "k_norm.weight")):
            torch.nn.init.normal_(weights, mean=1.0 if "norm" in name else 0.0, std=0.3)
    write_gguf(model, folder / "base.gguf", stored)
    model.save_pretrained(folder / "base")
    settings = peft.LoraConfig(
        r=8,
        lora_alpha=16,
        target_modules="all-linear",
        rank_pattern={"up_proj": 4},
        task_type="CAUSAL_LM",
    )
    adapted = peft.get_peft_model(model, settings)
    for name, weights in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weights, std=0.3)
    adapted.peft_config["default"].base_model_name_or_path = str(folder / "base.gguf")
    adapted.save_pretrained(str(folder / "adapter"))
    return folder


@pytest.fixture
def adapter(tiny: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the adapter to change."""
    yield Path(shutil.copytree(tiny / "adapter", tmp_path / "adapter"))


def llama_tokens(file: Path, adapter: Path | None, tokens: list[int]) -> list[int]:
    """The next token of llama.cpp after each beginning of a text."""
    engine = Engine(file, 512, adapter=adapter, threads=2)
    request = {"n_predict": 1, "temperature": 0, "return_tokens": True, "cache_prompt": True}
    replies = [engine.post("/completion", {"prompt": tokens[: end + 1], **request}) for end in range(len(tokens))]
    engine.stop()
    return [reply["tokens"][0] if reply["tokens"] else VOCABULARY - 1 for reply in replies]


def openvino_tokens(file: Path, tokens: list[int]) -> list[int]:
    """The next token of OpenVINO after each beginning of a text."""
    import numpy as np
    import openvino
    from openvino_genai import GenerationConfig, LLMPipeline, TokenizedInputs

    pipeline = LLMPipeline(str(file), "CPU", INFERENCE_PRECISION_HINT="f32")
    config = GenerationConfig()
    config.max_new_tokens = 1
    prompts = [np.array([tokens[: end + 1]]) for end in range(len(tokens))]
    inputs = [TokenizedInputs(openvino.Tensor(ids), openvino.Tensor(np.ones_like(ids))) for ids in prompts]
    return [pipeline.generate(prompt, config).tokens[0][0] for prompt in inputs]


def merged_model(folder: Path) -> Any:
    """A random model with its adapter, as transformers and peft add them."""
    import peft
    import transformers

    plain = transformers.AutoModelForCausalLM.from_pretrained(folder / "base")
    return peft.PeftModel.from_pretrained(plain, str(folder / "adapter")).merge_and_unload()


def expected_tokens(model: Any) -> tuple[list[int], list[int]]:
    """A text of random tokens, and the model's next token after each beginning of it."""
    import torch

    generator = random.Random(1)
    tokens = [generator.randrange(VOCABULARY - 1) for _ in range(POSITIONS)]
    with torch.inference_mode():
        return tokens, model(torch.tensor([tokens])).logits[0].argmax(-1).tolist()


def error_of(file: Path, tensor: str, weights: Any) -> float:
    """The largest difference of a tensor in a file, as a share of the largest weight."""
    from gguf import GGUFReader
    from gguf.quants import dequantize

    [stored] = [entry for entry in GGUFReader(file).tensors if entry.name == tensor]
    expected = weights.detach().numpy()
    return float(abs(dequantize(stored.data, stored.tensor_type) - expected).max() / abs(expected).max())


def agreement(left: list[int], right: list[int]) -> float:
    """The share of positions with the same token."""
    return sum(a == b for a, b in zip(left, right, strict=True)) / len(left)


@pytest.mark.train
@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3"])
def test_both_engines_write_the_same_with_an_adapter(architecture: str, tmp_path: Path) -> None:
    """llama.cpp with the converted adapter has the next token of the merged model at 95 % of 200 positions."""
    from benchmarks.learning.gguf_adapter import convert

    tiny = random_model(tmp_path, architecture)
    written = convert(tiny / "adapter", tiny / "base.gguf", tmp_path / "a.gguf")
    tokens, expected = expected_tokens(merged_model(tiny))

    assert (written.architecture, written.tensors, written.rank) == (architecture, 14, 8)
    assert agreement(llama_tokens(tiny / "base.gguf", written.file, tokens), expected) >= 0.95
    assert agreement(llama_tokens(tiny / "base.gguf", None, tokens), expected) < 0.5


@pytest.mark.train
@pytest.mark.parametrize(
    ("kind", "architecture"), [("adapter", "llama"), ("whole", "llama"), ("whole", "qwen2"), ("adapter", "qwen3")]
)
def test_a_tuned_model_is_a_file_of_its_own(kind: str, architecture: str, tmp_path: Path) -> None:
    """`--merge` writes what transformers merges, or all weights of a full tuning; llama.cpp reads it as a base."""
    tiny = random_model(tmp_path, architecture, "Q8_0")
    merged = merged_model(tiny)
    merged.save_pretrained(tmp_path / "whole")
    folder, out = tmp_path / kind, tmp_path / "tuned.gguf"
    command = ["train", "adapter", folder, "--base", tiny / "base.gguf", "--merge", "--out", out, "--json"]
    written = CliRunner().invoke(main, list(map(str, command)))
    tokens, expected = expected_tokens(merged)

    figures = json.loads(written.stdout)
    assert (figures["architecture"], figures["file"], figures["size"]) == (architecture, str(out), out.stat().st_size)
    assert figures["tensors"] == (14 if kind == "adapter" else len(merged.state_dict()) - 1)  # an output is tied
    # Of weights drawn at random many next tokens are nearly as likely, and 8 bit may change their order.
    assert agreement(llama_tokens(out, None, tokens), expected) >= 0.85
    assert agreement(llama_tokens(tiny / "base.gguf", None, tokens), expected) < 0.5
    assert error_of(out, "blk.1.ffn_down.weight", merged.model.layers[1].mlp.down_proj.weight) < 0.02


@pytest.mark.train
@pytest.mark.openvino
@pytest.mark.parametrize(("stored", "architecture"), [("F16", "llama"), ("Q8_0", "qwen2"), ("Q8_0", "qwen3")])
def test_openvino_reads_a_tuned_model(stored: str, architecture: str, tmp_path: Path) -> None:
    """What takes no adapter takes the merged file, whose weights of 16 bit stay so."""
    from benchmarks.learning.gguf_model import merge

    tiny = random_model(tmp_path, architecture, stored)
    merged = merged_model(tiny)
    tokens, expected = expected_tokens(merged)
    merge(tiny / "adapter", tiny / "base.gguf", tmp_path / "tuned.gguf")

    assert agreement(openvino_tokens(tmp_path / "tuned.gguf", tokens), expected) >= (0.95 if stored == "F16" else 0.8)
    assert error_of(tmp_path / "tuned.gguf", "blk.0.attn_v.weight", merged.model.layers[0].self_attn.v_proj.weight) < (
        0.001 if stored == "F16" else 0.02
    )


@pytest.mark.train
def test_a_model_that_cannot_be_merged_is_told(tiny: Path, adapter: Path, tmp_path: Path) -> None:
    """Each message names the file and what to give instead; no file is left."""
    from benchmarks.learning.gguf_model import merge

    (adapter / "rope.json").write_text('{"rope_type": "linear", "factor": 2.0}')
    whole = Path(shutil.copytree(tiny / "base", tmp_path / "whole"))
    (whole / "model.safetensors").write_bytes(b"damaged")
    empty = tmp_path / "empty"
    empty.mkdir()
    without = tmp_path / "without"
    without.mkdir()
    shutil.copy(tiny / "base" / "config.json", without)
    cases: list[tuple[Path, type[ATCError], str]] = [
        (adapter, UsageError, "trained with interpolated positions, which this file cannot hold"),
        (whole, ModelError, r"model\.safetensors is damaged"),
        (empty, ModelError, r"empty is neither an adapter nor a model: config\.json"),
        (without, ModelError, r"without has no weights: no file \*\.safetensors"),
    ]
    for folder, error, message in cases:
        with pytest.raises(error, match=message):
            merge(folder, tiny / "base.gguf", tmp_path / "tuned.gguf")
    command = ["train", "adapter", str(tiny / "base"), "--merge", "--out", str(tmp_path / "tuned.gguf")]
    assert "give its GGUF file with --base" in " ".join(CliRunner().invoke(main, command).stderr.split())
    assert not list(tmp_path.glob("*.gguf")) and not list(tmp_path.glob(".*.part"))


@pytest.mark.train
def test_a_bias_has_the_order_of_its_rows(tmp_path: Path) -> None:
    """The llama architecture pairs the halves of each head, in the weights and in the bias of q and k."""
    import numpy as np

    from benchmarks.learning.gguf_adapter import permuted, read_base

    base = read_base(random_model(tmp_path, "llama", "F16") / "base.gguf")
    bias = np.arange(base.shapes["blk.0.attn_q.weight"][1], dtype=np.float32)

    assert (
        permuted(bias, "blk.0.attn_q.bias", base) == permuted(bias[:, None], "blk.0.attn_q.weight", base)[:, 0]
    ).all()
    assert not (permuted(bias, "blk.0.attn_q.bias", base) == bias).all()


@pytest.mark.train
def test_an_adapter_brings_its_interpolated_positions(tiny: Path, adapter: Path, tmp_path: Path) -> None:
    """The factor of the training is in the GGUF file, and llama.cpp stretches the base by it; `hf:` refuses."""
    import peft
    import torch
    import transformers

    from benchmarks.learning.gguf_adapter import convert

    (adapter / "rope.json").write_text('{"rope_type": "linear", "factor": 2.0}')
    written = convert(adapter, tiny / "base.gguf", tmp_path / "a.gguf")
    generator = random.Random(2)
    tokens = [generator.randrange(VOCABULARY - 1) for _ in range(60)]
    plain = transformers.AutoConfig.from_pretrained(tiny / "base")
    plain.rope_parameters = {**plain.rope_parameters, "rope_type": "linear", "factor": 2.0}
    stretched = transformers.AutoModelForCausalLM.from_pretrained(tiny / "base", config=plain)
    merged = peft.PeftModel.from_pretrained(stretched, str(tiny / "adapter")).merge_and_unload()
    with torch.inference_mode():
        expected = merged(torch.tensor([tokens])).logits[0].argmax(-1).tolist()
    unstretched = convert(tiny / "adapter", tiny / "base.gguf", tmp_path / "b.gguf")

    assert agreement(llama_tokens(tiny / "base.gguf", written.file, tokens), expected) >= 0.95
    assert agreement(llama_tokens(tiny / "base.gguf", unstretched.file, tokens), expected) < 0.9
    with closing(open_model(f"local:{tiny / 'base.gguf'}+{written.file}")) as model:
        assert getattr(model, "context", None) == 2 * plain.max_position_embeddings
    with pytest.raises(ModelError, match=r"trained with interpolated positions, .*take the folder merged"):
        open_model(f"hf:{tiny / 'base'}+{adapter}")


@pytest.mark.train
def test_an_adapter_of_another_size_is_told(tiny: Path, adapter: Path, tmp_path: Path) -> None:
    """Both by the conversion, which names the layer, and by the engine for a file that was converted elsewhere."""
    import torch
    from safetensors.torch import load_file, save_file

    from benchmarks.learning.gguf_adapter import _write, convert

    tensors = load_file(adapter / "adapter_model.safetensors")
    grown = {name: torch.cat([array, array], -1) if "lora_A" in name else array for name, array in tensors.items()}
    save_file(grown, adapter / "adapter_model.safetensors")
    with pytest.raises(ModelError, match=r"down_proj has 192 inputs and 64 outputs, .* name it with --base"):
        convert(adapter, tiny / "base.gguf", tmp_path / "a.gguf")
    assert not list(tmp_path.glob("*.gguf*"))

    half = tensors["base_model.model.model.layers.0.mlp.down_proj.lora_A.weight"].numpy()[:, :32]
    pair = {"blk.0.ffn_down.weight.lora_a": half, "blk.0.ffn_down.weight.lora_b": half.T}
    _write(tmp_path / "a.gguf", "llama", 1.0, pair)
    with (
        closing(open_model(f"local:{tiny / 'base.gguf'}+{tmp_path / 'a.gguf'}")) as model,
        pytest.raises(
            ModelError, match=r"could not load .*base\.gguf with .*a\.gguf: the adapter was trained on another"
        ),
    ):
        model.complete(QUESTION)


@pytest.mark.train
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"use_dora": True}, "cannot add an adapter with use_dora"),
        ({"modules_to_save": ["lm_head"]}, "cannot add an adapter with modules_to_save"),
        ({"bias": "all"}, "cannot add an adapter with bias"),
        ({"init_lora_weights": "pissa_niter_4"}, "cannot add an adapter with init_lora_weights=pissa_niter_4"),
        ({"peft_type": "PREFIX_TUNING"}, "describes no LoRA adapter"),
        ({"lora_alpha": 0}, "changes nothing"),
        ({"r": "x"}, "r is 'x', and must be a number larger than 0"),
        ({"lora_alpha": float("nan")}, "lora_alpha is nan, and must be a number"),
        ({"lora_alpha": None}, "lora_alpha is missing or 0"),
        ({"alpha_pattern": {"down_proj": 8}}, "cannot add an adapter with alpha_pattern"),
    ],
)
def test_what_cannot_be_converted_is_refused(
    tiny: Path, adapter: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    """Parts that llama.cpp cannot add, and damaged settings; the message has the file and the setting."""
    from benchmarks.learning.gguf_adapter import convert

    file = adapter / "adapter_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(ATCError, match=rf"adapter_config\.json.*{message}"):
        convert(adapter, tiny / "base.gguf", tmp_path / "a.gguf")


@pytest.mark.train
def test_damaged_weights_are_told(tiny: Path, adapter: Path, tmp_path: Path) -> None:
    """A file that ends early, numbers without a value, and an adapter of embeddings; nothing is left of the output."""
    from safetensors.torch import load_file, save_file

    from benchmarks.learning.gguf_adapter import convert

    file = adapter / "adapter_model.safetensors"
    tensors = load_file(file)
    name = next(iter(tensors))
    contents = {
        r"has numbers without a value": {**tensors, name: tensors[name] * float("nan")},
        r"lm_head.weight cannot be changed alone": {
            f"base_model.model.lm_head.{part}.weight": tensors[name] for part in ("lora_A", "lora_B")
        },
        r"train the adapter on linear layers alone": {
            "base_model.model.model.embed_tokens.lora_embedding_A": tensors[name]
        },
        r"cannot add .*; train the adapter on linear layers alone": {name: tensors[name][0]},
        r"is incomplete": {name: tensors[name]},
    }
    for message, content in contents.items():
        save_file({key: tensor.clone() for key, tensor in content.items()}, file)
        with pytest.raises(ATCError, match=message):
            convert(adapter, tiny / "base.gguf", tmp_path / "a.gguf")
    (adapter / "rope.json").write_text('{"factor": NaN}')
    shutil.copy(tiny / "adapter" / file.name, file)
    with pytest.raises(ModelError, match=r"rope\.json is damaged: the factor is nan, and must be at least 1"):
        convert(adapter, tiny / "base.gguf", tmp_path / "a.gguf")
    file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(ModelError, match="missing or damaged"):
        convert(adapter, tiny / "base.gguf", tmp_path / "a.gguf")
    assert not list(tmp_path.glob("*.gguf*"))


@pytest.mark.train
def test_atc_train_adapter(tiny: Path, tmp_path: Path) -> None:
    """The base is the one that the adapter names; the output is a model to ask with."""
    from click.testing import CliRunner

    from benchmarks.learning.adapter_command import adapter as command

    out = tmp_path / "a.gguf"
    result = CliRunner().invoke(command, [str(tiny / "adapter"), "--out", str(out), "--json"])

    assert json.loads(result.stdout) == {
        "file": str(out),
        "architecture": "llama",
        "tensors": 14,
        "rank": 8,
        "size": out.stat().st_size,
    }
    with closing(open_model(f"local:{tiny / 'base.gguf'}+{out}")) as model:
        assert model.complete(QUESTION, max_tokens=3).usage.completion_tokens <= 3


@pytest.mark.train
def test_transformers_adds_an_adapter(tiny: Path) -> None:
    """`hf:` takes the folder that the training wrote; a GGUF file, or an adapter of another model, is told."""
    with pytest.raises(ModelError, match=r"is no adapter for hf:, which takes a folder"):
        open_model(f"hf:{tiny / 'base'}+{tiny / 'base.gguf'}")
    model = open_model(f"hf:{tiny / 'base.gguf'}+{tiny / 'adapter'}")
    plain = open_model(f"hf:{tiny / 'base.gguf'}")

    assert model.complete(QUESTION, max_tokens=8).text != plain.complete(QUESTION, max_tokens=8).text
    assert model.name.startswith(f"hf:{tiny / 'base.gguf'}+{tiny / 'adapter'}#")
