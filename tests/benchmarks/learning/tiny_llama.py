"""A llama or qwen2 of two layers with random weights, for transformers and as a GGUF file."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["VOCABULARY", "header", "in_gguf_order", "make_llama", "write_gguf"]

HEADS, KV_HEADS, HEAD_SIZE = 4, 2, 16
VOCABULARY = 258
"""A token for each byte, one of two bytes, and an end."""


def make_llama(context: int = 512, architecture: str = "llama") -> Any:
    """The model; its embeddings are its output layer, too, as in SmolLM2."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(
        architecture,
        vocab_size=VOCABULARY,
        hidden_size=HEADS * HEAD_SIZE,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        max_position_embeddings=context,
        initializer_range=0.2,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=VOCABULARY - 1,
        head_dim=HEAD_SIZE,
    )
    return transformers.AutoModelForCausalLM.from_config(config).float().eval()


def header(file: Path, fields: Mapping[str, str | int]) -> Path:
    """Write a GGUF file that ends after its metadata."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    body = b"".join(
        text(key) + (struct.pack("<I", 8) + text(value) if isinstance(value, str) else struct.pack("<II", 4, value))
        for key, value in fields.items()
    )
    file.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(fields)) + body)
    return file


def in_gguf_order(rows: Any, heads: int) -> Any:
    """The rows of a query or key projection as the GGUF format has them: pairs of a rotation next to each other."""
    half = len(rows) // heads // 2
    order = [head * 2 * half + part * half + i for head in range(heads) for i in range(half) for part in (0, 1)]
    return rows[order]


def write_gguf(model: Any, file: Path) -> None:
    """Write the model with a vocabulary of bytes, in 32 bit."""
    import gguf
    from tokenizers.pre_tokenizers import ByteLevel

    names = {
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
    }
    config = model.config
    architecture = config.model_type
    writer = gguf.GGUFWriter(file, architecture)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(HEAD_SIZE)
    writer.add_key_length(HEAD_SIZE)
    writer.add_value_length(HEAD_SIZE)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([*sorted(ByteLevel.alphabet()), "ab", "<end>"])
    writer.add_token_types([1] * (VOCABULARY - 1) + [3])
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(VOCABULARY - 1)
    state = {name: tensor.detach().float().numpy() for name, tensor in model.state_dict().items()}

    writer.add_tensor("token_embd.weight", state["model.embed_tokens.weight"])
    writer.add_tensor("output_norm.weight", state["model.norm.weight"])
    for layer in range(config.num_hidden_layers):
        for module, name in names.items():
            for part in ("weight", "bias"):
                rows = state.get(f"model.layers.{layer}.{module}.{part}")
                heads = {"attn_q": HEADS, "attn_k": KV_HEADS}.get(name) if architecture == "llama" else None
                if rows is not None:
                    writer.add_tensor(f"blk.{layer}.{name}.{part}", in_gguf_order(rows, heads) if heads else rows)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
