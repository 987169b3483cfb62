"""What checkpoints store: real and constructed configs (their fields, in configs/) against bytes worked out by hand."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roofline_calc import Precision, read_config
from roofline_calc.checkpoints.module_names import DEPARTING, USUAL, USUAL_ENDS
from roofline_calc.checkpoints.modules import modules
from roofline_calc.precision import Stored

FOLDER = Path(__file__).parent / "configs"
NVFP4, MXFP4, INT4_G128_ZERO = 0.5 + 1 / 16, 0.5 + 1 / 32, 0.5 + (2 + 0.5) / 128
BLOCK_FP8 = 1 + 4 / 128**2

# Qwen2.5-7B by hand: a layer's matrices, all layers' vectors (norms, q, k and v biases, the last norm), embedding.
QWEN_LAYER = 3584 * (3584 + 2 * 512) + 3584 * 3584 + 3 * 3584 * 18944
QWEN_VECTORS = 28 * (2 * 3584 + 3584 + 2 * 512) + 3584
QWEN_TABLE = 152064 * 3584


def of(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def sidecar(name: str) -> Any:
    return of(f"{name}.hf_quant_config")


def quantised(**fields: Any) -> dict[str, Any]:
    """Qwen2.5-7B with a quantisation."""
    config = of("gptq-lm-head")
    return config | {"quantization_config": fields}


def test_a_sidecar_that_alone_says_how_it_is_quantised(tmp_path):
    """Llama-3.1-70B-Instruct-FP8: 141.1 GB by config.json alone, 72.66 GB stored (B1)."""
    (tmp_path / "config.json").write_text(json.dumps(of("Llama-3.1-70B-Instruct-FP8")), encoding="utf-8")
    layer = 8192 * (8192 + 2 * 1024) + 8192 * 8192 + 3 * 8192 * 28672
    vectors, table = 80 * 2 * 8192 + 8192, 128256 * 8192
    wide = 2 * (80 * layer + vectors + 2 * table)
    assert read_config(tmp_path).weight_bytes() == wide == 141_107_412_992
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(sidecar("Llama-3.1-70B-Instruct-FP8")), encoding="utf-8")
    for given in (tmp_path, tmp_path / "config.json"):
        model = read_config(given)
        assert model.weight_bytes() == 80 * layer + 2 * (vectors + 2 * table) == 72_656_371_712
        assert (model.precision.kv, model.stored) == (1, {"layers": Stored(1, "fp8")})
    assert read_config(tmp_path, quantisation={}).weight_bytes() == wide
    assert read_config(of("Llama-3.1-70B-Instruct-FP8"), quantisation=sidecar("Llama-3.1-70B-Instruct-FP8")) == replace(
        model, source="config.json"
    )


def test_everything_but_routers_and_lm_head_in_nvfp4():
    """Qwen3-235B-A22B-NVFP4 excludes 94 routers and lm_head: 134 GB for the 470 of its config.json (B1)."""
    model = read_config(of("Qwen3-235B-A22B-NVFP4"), quantisation=sidecar("Qwen3-235B-A22B-NVFP4"))
    attention = 2 * 4096 * 64 * 128 + 2 * 4096 * 4 * 128
    quantised = 94 * (attention + 128 * 3 * 4096 * 1536)
    wide = 94 * (4096 * 128 + 2 * 4096 + 2 * 128) + 4096 + 2 * 151936 * 4096
    assert quantised + wide == model.params == 235_093_634_560
    assert model.weight_bytes() == quantised * NVFP4 + 2 * wide
    assert model.weight_bytes() == pytest.approx(134e9, rel=1e-3)
    assert model.stored == {"layers": Stored(NVFP4, "fp4")}


MLA = {"q_a": 7168 * 1536, "q_b": 1536 * 128 * 192, "kv_a": 7168 * 576, "kv_b": 512 * 128 * 256, "o": 16384 * 7168}


def test_latent_attention_left_out_of_nvfp4_by_name():
    """DeepSeek-V3.1-NVFP4 excludes q_a, q_b, kv_a and kv_b of each layer, not o_proj: between all (380) and experts."""
    model = read_config(of("DeepSeek-V3.1-NVFP4"), quantisation=sidecar("DeepSeek-V3.1-NVFP4"))
    ffn = 3 * 3 * 7168 * 18432 + 58 * 257 * 3 * 7168 * 2048
    small = 61 * MLA["o"] + ffn
    assert model.weight_bytes() == small * NVFP4 + 2 * (model.params - small)
    assert model.weight_bytes() == pytest.approx(386.38e9, rel=1e-5)
    plain = Stored(2)
    assert model.stored == {"layers": Stored(NVFP4, "fp4")} | {
        f"{name}_proj": plain for name in ("q_a", "kv_a", "q_b", "kv_b")
    }


def test_elements_of_a_published_nvfp4_checkpoint():
    """nvidia/DeepSeek-R1-NVFP4 has 396,767,013,632 elements by the Hub: two weights in one, a scale for 16.

    All attention and the multi-token-prediction layer (13,463,426,304 parameters) are 16 bits wide there.
    """
    rules = {"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head", "model.layers.*.self_attn*"]}}
    model = read_config(of("DeepSeek-V3.1-NVFP4"), quantisation=rules)
    elements = {name: Stored(1 if stored == Stored(2) else stored.width) for name, stored in model.stored.items()}
    one_byte = Precision(activations=1, weights=1, kv=1, others=1, modules=elements)
    assert model.weight_bytes(one_byte) + 13_463_426_304 == 396_767_013_632


def test_elements_of_a_published_fp8_checkpoint():
    """deepseek-ai/DeepSeek-V3: 684,531,386,000 elements by the Hub, scales of 128 x 128 blocks counted.

    With its prediction layer there are 62 kv_a_proj, whose last row of blocks overhangs: half a block more, of 56.
    """
    model = read_config(of("DeepSeek-V3"))
    assert model.stored == {"layers": Stored(BLOCK_FP8, "fp8", (128, 128))}
    deeper = replace(model, layers=62)
    scales = sum(
        (line.K * line.N * line.layers * line.copies) / 128**2
        for name, line in deeper.linear_layers().items() if name != "router"
    )
    assert 684_489_845_504 + scales + 62 * 56 / 2 == 684_531_386_000
    widened = deeper.weight_bytes() - deeper.weight_bytes(Precision(modules={"layers": Stored(1)}))
    assert widened == 4 * scales


def test_routers_left_out_of_fp8_by_name():
    """Qwen3-235B-A22B-FP8 lists lm_head, its routers and its norms."""
    model = read_config(of("Qwen3-235B-A22B-FP8"))
    assert model.stored == {"layers": Stored(BLOCK_FP8, "fp8", (128, 128))}
    wide = 94 * (4096 * 128 + 2 * 4096 + 2 * 128) + 4096 + 2 * 151936 * 4096
    assert model.weight_bytes() == (235_093_634_560 - wide) * BLOCK_FP8 + 2 * wide


def test_a_config_without_a_data_type():
    """MiniMax-M2.5's, as GPT-OSS's, names none; of its quantised relatives' configs, "dtype" is bfloat16."""
    model = read_config(of("MiniMax-M2.5"))
    wide = 62 * (3072 * 256 + 256 + 2 * 3072 + 56 * 128) + 3072 + 2 * 200064 * 3072
    assert model.weight_bytes() == (228_689_764_864 - wide) * BLOCK_FP8 + 2 * wide


def test_experts_of_a_published_int4_checkpoint():
    """Kimi-K2.5 quantises its experts alone, in groups of 32: 594 GB, by patterns of names within text_config (B5)."""
    model = read_config(of("Kimi-K2.5"))
    expert = 60 * 384 * 3 * 7168 * 2048
    assert model.weight_bytes() == expert * 0.5625 + 2 * (1_026_408_232_448 - expert)
    assert model.stored == {"experts": Stored(0.5625, block=(1, 32))}


def test_left_out_of_awq_by_name():
    """Qwen3-30B-A3B with only its experts quantised reads 3.40 GB at batch 1, not 2.06, and stores 18.14 (B2)."""
    model = read_config(of("qwen3-30b-awq-attention-16bit"))
    expert = 48 * 3 * 2048 * 768
    wide = 48 * (2 * 2048 * 4096 + 2 * 2048 * 512 + 2048 * 128 + 2 * 2048 + 2 * 128) + 2048 + 151936 * 2048
    assert model.weight_bytes_read(1) == pytest.approx(8 * expert * INT4_G128_ZERO + 2 * wide, rel=1e-12)
    assert model.weight_bytes_read(1) == pytest.approx(3.40e9, rel=1e-3)
    assert model.weight_bytes() == 128 * expert * INT4_G128_ZERO + 2 * (wide + 151936 * 2048)
    assert model.weight_bytes() == pytest.approx(18.144e9, rel=1e-4)


def test_a_name_within_awqs_names():
    """AutoAWQ looks for "mlp.gate" within names, and so leaves a dense gate_proj alone as well."""
    awq = {"quant_method": "awq", "bits": 4, "group_size": 128}
    stored = read_config(quantised(**awq, modules_to_not_convert=["mlp.gate"])).stored
    assert stored == {"layers": Stored(INT4_G128_ZERO, block=(1, 128)), "gate_proj": Stored(2)}
    exact = read_config(quantised(quant_method="fp8", modules_to_not_convert=["mlp.gate"])).stored
    assert exact == {"layers": Stored(1, "fp8")}
    old = read_config(quantised(w_bit=4, q_group_size=64, zero_point=False)).stored
    assert old == {"layers": Stored(0.5 + 2 / 64, block=(1, 64))}


def test_gptq_with_lm_head():
    """The output embedding too (B2): 3.67 GB read for the 4.76 of 16 bits wide lm_head."""
    model = read_config(of("gptq-lm-head"))
    expected = (28 * QWEN_LAYER + QWEN_TABLE) * INT4_G128_ZERO + 2 * QWEN_VECTORS
    assert model.weight_bytes_read(1) == expected
    assert expected == pytest.approx(3.674e9, rel=1e-3)
    assert read_config(of("gptq-lm-head") | {"quantization_config": {"quant_method": "gptq", "bits": 4,
                       "group_size": 128}}).weight_bytes_read(1) == expected + QWEN_TABLE * (2 - INT4_G128_ZERO)


def test_gptq_by_patterns_of_names():
    """Down projections of the first 7 of 28 layers in 8 bits, attention left out, whatever comes first in the file."""
    dynamic = {r"+:.*\.down_proj": {"bits": 8}, r"-:model\.layers\.(7|8|9|[12]\d)\.mlp\.down": {}, "-:.*self_attn": {}}
    stored = read_config(quantised(quant_method="gptq", bits=4, group_size=128, dynamic=dynamic)).stored
    eight = 1 + (2 + 1) / 128
    assert stored.pop("down_proj").width == pytest.approx((7 * eight + 21 * 2) / 28)
    assert stored == {**{name: Stored(INT4_G128_ZERO, block=(1, 128)) for name in ("gate_proj", "up_proj")}}


def test_gptq_of_experts():
    """Qwen1.5-MoE-A2.7B-Chat-GPTQ-Int4: every router, and what weighs the shared experts, stays 16 bits wide."""
    model = read_config(of("Qwen1.5-MoE-A2.7B-Chat-GPTQ-Int4"))
    assert model.stored == {"layers": Stored(INT4_G128_ZERO, block=(1, 128))}
    layer = 4 * 2048 * 2048 + 3 * 2048 * (60 * 1408 + 5632)
    assert model.weight_bytes() == 24 * layer * INT4_G128_ZERO + 2 * (14_315_784_192 - 24 * layer)


def test_gptq_of_some_modules_and_whole_columns():
    some = quantised(
        quant_method="gptq", bits=4, group_size=-1,
        modules_in_block_to_quantize=[["self_attn.k_proj", "self_attn.v_proj"], ["mlp.down_proj"]],
    )
    column = {K: 0.5 + 2.5 / K for K in (3584, 18944)}
    assert read_config(some).stored == {
        "k_proj": Stored(column[3584]), "v_proj": Stored(column[3584]), "down_proj": Stored(column[18944]),
    }


def test_mlx_quantises_embedding_and_lm_head_too():
    """4-bit MLX, groups of 64 with a scale and a bias: 4.28 GB for the 15.23 of 16 bits (B3)."""
    model, every = read_config(of("mlx-4bit")), Stored(0.5625)
    assert model.stored == {"layers": every, "lm_head": every, "embedding": every}
    assert model.weight_bytes() == (28 * QWEN_LAYER + 2 * QWEN_TABLE) * 0.5625 + 2 * QWEN_VECTORS
    assert model.weight_bytes() == pytest.approx(4.284e9, rel=1e-3)
    assert model.weight_bytes_read(1) == pytest.approx(3.98e9, rel=1e-3)


def test_mlx_by_path_and_mode():
    settings = {
        "group_size": 64, "bits": 4, "lm_head": False, "model.embed_tokens": {"bits": 8},
        **{f"model.layers.{i}.mlp.down_proj": {"group_size": 32, "bits": 8} for i in range(7)},
    }
    for key in ("quantization", "quantization_config"):  # older files write both, the same in each
        config = of("mlx-4bit") | {"quantization": None, key: settings}
        stored = read_config(config).stored
        assert stored["embedding"] == Stored(1.0625)
        assert "lm_head" not in stored
        assert stored["down_proj"].width == pytest.approx((7 * 1.125 + 21 * 0.5625) / 28)
    for mode, width in {"mxfp4": MXFP4, "nvfp4": NVFP4, "mxfp8": 1 + 1 / 32}.items():
        assert read_config(of("mlx-4bit") | {"quantization": {"mode": mode}}).stored["layers"] == Stored(width)
    whole = of("mlx-4bit") | {"quantization": {"group_size": 128, "bits": 3}, "intermediate_size": 18944 - 64}
    assert read_config(whole).stored["down_proj"] == Stored(2)  # no whole groups in a row


def test_experts_in_mxfp4():
    """The official gpt-oss-20b config, which names no data type (B10): 16 bits but for the experts, 4.25."""
    model = read_config(of("gpt-oss-20b"))
    expert = 24 * 32 * 3 * 2880 * 2880
    assert model.params == 20_914_757_184
    assert model.weight_bytes() == expert * MXFP4 + 2 * (20_914_757_184 - expert)
    assert model.stored == {"experts": Stored(MXFP4)}
    assert read_config(of("gpt-oss-120b")).params == 116_829_156_672


def test_a_dense_model_in_mxfp4():
    """It was taken for 16 bits (B4)."""
    model = read_config(of("dense-mxfp4"))
    assert model.weight_bytes() == 28 * QWEN_LAYER * MXFP4 + 2 * (QWEN_VECTORS + 2 * QWEN_TABLE)
    kept = read_config(quantised(quant_method="mxfp4", modules_to_not_convert=["model.layers.*.self_attn"])).stored
    assert kept == {"gate_proj": Stored(MXFP4), "up_proj": Stored(MXFP4), "down_proj": Stored(MXFP4)}


def test_quantisation_within_the_language_models_config():
    """Refused for what it lacks, not ignored (B5)."""
    nested = of("nested-quantisation")
    with pytest.raises(ValueError, match=r"^text_config: quantization_config: config_groups = None: must map names"):
        read_config(nested)
    nested["text_config"]["quantization_config"] = {"quant_method": "fp8"}
    assert read_config(nested).stored == {"layers": Stored(1, "fp8")}


def groups(weights: Any, inputs: Any = None, stored_as: str = "pack-quantized", **more: Any) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": inputs}
    common = {"quant_method": "compressed-tensors", "ignore": ["lm_head"], "format": stored_as}
    return {**common, "config_groups": {"group_0": group}, **more}


def tensors(*args: Any, **more: Any) -> dict[str, Any]:
    return quantised(**groups(*args, **more))


FP8_ROWS = {"num_bits": 8, "type": "float", "strategy": "channel"}


@pytest.mark.parametrize(
    ("config", "layers"),
    [
        (tensors({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}),
         Stored(0.515625, block=(1, 128))),
        (tensors({"num_bits": 4, "type": "int", "group_size": 32, "symmetric": False}),
         Stored(0.5 + 2.5 / 32, block=(1, 32))),
        (tensors({"num_bits": 3, "group_size": 128}), Stored(0.4 + 2 / 128, block=(1, 128))),  # ten weights in an int32
        (tensors({"num_bits": 8, "strategy": "tensor"}, {"num_bits": 8, "type": "int"}, "int-quantized"),
         Stored(1, "int8")),
        (tensors({"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]},
                 {"num_bits": 8, "type": "float"}, "float-quantized"), Stored(1 + 2 / 128**2, "fp8", (128, 128))),
        (tensors({"num_bits": 4, "type": "float", "group_size": 16}, {"num_bits": 4, "type": "float"},
                 "nvfp4-pack-quantized"), Stored(NVFP4, "fp4")),
        (tensors({"num_bits": 4, "type": "float", "group_size": 32}, None, "mxfp4-pack-quantized"), Stored(MXFP4)),
        (tensors({"num_bits": 8, "type": "float"}, {"num_bits": 8, "type": "float"}, "mxfp8-quantized"),
         Stored(1 + 1 / 32, "fp8")),
        (tensors({"num_bits": 4, "group_size": 128}, {"num_bits": 8, "type": "float"}),
         Stored(0.515625, "fp8", (1, 128))),
        (quantised(quant_method="bitsandbytes", load_in_4bit=True), Stored(0.5625)),
        (quantised(quant_method="bitsandbytes", load_in_4bit=True, bnb_4bit_use_double_quant=True),
         Stored(0.5 + 1 / 64 + 4 / (64 * 256))),
        (quantised(quant_method="fp8", weight_block_size=[64, 128]), Stored(1 + 4 / 8192, "fp8", (64, 128))),
        (quantised(quant_method="modelopt", quant_algo="FP8_PB_WO"),
         Stored(BLOCK_FP8, "fp8", (128, 128))),
        (quantised(quant_method="modelopt_fp4", quant_algo="w4a16_nvfp4", group_size="16"), Stored(NVFP4)),
        (quantised(quant_algo="MXFP8", ignore=["lm_head"]), Stored(1 + 1 / 32, "fp8")),
    ],
)
def test_one_width_of_all_layers(config, layers):
    assert read_config(config).stored == {"layers": layers}


def test_a_scale_for_each_row():
    """Its share depends on the width of a row: K is 3584 but for down_proj."""
    rows = read_config(tensors(FP8_ROWS, {"num_bits": 8, "type": "float"}, "float-quantized")).stored
    assert rows == {"layers": Stored(1 + 2 / 3584, "fp8"), "down_proj": Stored(1 + 2 / 18944, "fp8")}
    eight = read_config(quantised(quant_method="bitsandbytes", load_in_8bit=True)).stored
    assert eight == {"layers": Stored(1 + 4 / 3584, "int8"), "down_proj": Stored(1 + 4 / 18944, "int8")}
    channel = read_config(quantised(quant_method="modelopt", quant_algo="FP8_PER_CHANNEL_PER_TOKEN")).stored
    assert channel == eight | {name: Stored(each.width, "fp8") for name, each in eight.items()}


def test_modules_named_one_by_one():
    """Model Optimizer's mixed precision: FP8 attention of the even layers, experts (all by one name) in W4A16 NVFP4."""
    layers = {
        **{f"model.layers.{i}.self_attn.{x}_proj": {"quant_algo": "FP8"} for i in range(0, 94, 2) for x in "qkvo"},
        **{f"model.layers.{i}.mlp.experts": {"quant_algo": "W4A16_NVFP4", "group_size": 16} for i in range(94)},
        "lm_head": {"quant_algo": "FP8"},
    }
    rules = {"quantization": {"quant_algo": "MIXED_PRECISION", "quantized_layers": layers}}
    model = read_config(of("Qwen3-235B-A22B-NVFP4"), quantisation=rules)
    half = Stored(1.5, "fp8")  # the mean of 1 and 2 bytes; the faster product, so that a bound stays one
    assert model.stored == {"layers": half, "experts": Stored(NVFP4), "lm_head": Stored(1, "fp8")}


def test_an_expert_named_by_its_number():
    rules = {"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["model.layers.0.mlp.experts.3.down_proj"]}}
    stored = read_config(of("Qwen3-235B-A22B-NVFP4"), quantisation=rules).stored
    assert stored["expert_down_proj"].width == pytest.approx(NVFP4 + (2 - NVFP4) / (94 * 128), rel=1e-12)
    assert stored["layers"] == Stored(NVFP4, "fp4")
    assert "expert_up_proj" not in stored


def test_dense_layers_are_asked_by_their_number():
    """DeepSeek's are the first three; Qwen's are where decoder_sparse_step and mlp_only_layers say."""
    def rules(*layers: int) -> dict[str, Any]:
        excluded = [f"model.layers.{i}.mlp.gate_proj" for i in layers]
        return {"quantization": {"quant_algo": "FP8", "exclude_modules": excluded}}

    stored = read_config(of("DeepSeek-V3"), quantisation=rules(2, 3)).stored
    assert stored["gate_proj"].width == pytest.approx((2 * 1 + 2) / 3)
    sparse = of("Qwen3-235B-A22B-NVFP4") | {"decoder_sparse_step": 47, "mlp_only_layers": [46]}
    stored = read_config(sparse, quantisation=rules(46, 93)).stored  # layers 46 and 93 are the sparse ones by the step
    assert stored["gate_proj"].width == pytest.approx((92 * 1 + 2) / 93)


def test_the_names_of_other_architectures():
    """Mixtral's experts are w1, w3 and w2; Phi-3 keeps q, k and v in one matrix."""
    common = {"hidden_size": 4096, "num_hidden_layers": 2, "intermediate_size": 14336, "vocab_size": 32000,
              "num_attention_heads": 32, "num_key_value_heads": 8, "sliding_window": None, "torch_dtype": "bfloat16"}
    mixtral = {**common, "architectures": ["MixtralForCausalLM"], "num_local_experts": 8, "num_experts_per_tok": 2}
    rules = {"quant_method": "fp8", "modules_to_not_convert": ["w2", "model.layers.1.self_attn"]}
    stored = read_config(mixtral | {"quantization_config": rules}).stored
    assert stored["expert_down_proj"] == Stored(2)
    assert stored["layers"] == Stored(1.5, "fp8")  # attention: one layer of two
    assert stored["expert_gate_proj"] == Stored(1, "fp8")
    phi = {**common, "architectures": ["Phi3ForCausalLM"]}
    rules = {"quant_method": "fp8", "modules_to_not_convert": ["qkv_proj"]}
    assert read_config(phi | {"quantization_config": rules}).stored == {
        "layers": Stored(1, "fp8"), **{f"{name}_proj": Stored(2) for name in "qkv"}
    }


def test_a_tied_embedding_is_one_matrix():
    tied = of("mlx-4bit") | {"tie_word_embeddings": True}
    tied["quantization"] = tied["quantization"] | {"model.embed_tokens": {"bits": 8}}
    stored = read_config(tied).stored
    assert stored["lm_head"] == stored["embedding"] == Stored(1.0625)


@pytest.mark.parametrize(
    ("kv", "width"), [({}, None), ({"num_bits": 8, "type": "float"}, 1), ("FP8", 1), ("NVFP4", NVFP4)]
)
def test_the_width_of_the_kv_cache(kv, width):
    model = read_config(quantised(quant_method="modelopt", quant_algo="FP8", kv_cache_scheme=kv or None))
    assert model.kv_width == width
    alone = quantised(quant_method="modelopt", quant_algo=None, kv_cache_quant_algo="FP8")
    assert (read_config(alone).kv_width, read_config(alone).stored) == (1, {})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        *[({"quant_method": method}, rf"quant_method = '{method}': cannot be counted, only awq, .*--weights 4\.5")
          for method in ("hqq", "quark", "aqlm", "exl2", "torchao")],
        ({}, "quant_method = None: cannot be counted"),
        ({"quant_method": "gptq", "group_size": 128}, "bits: missing from the config"),
        ({"quant_method": "gptq", "bits": 4}, "group_size = None: must be a positive whole number, or -1"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 0}, "group_size = 0: must be a positive whole number"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": {"+:(": {}}}, r"dynamic: '\+:\(': not a"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": [1]}, r"dynamic = \[1\]: must map"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "checkpoint_format": "marlin"}, "checkpoint_format ="),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "modules_in_block_to_quantize": "x"}, "modules_in"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": "x"}, "modules_to_not_con"),
        ({"quant_method": "fp8", "weight_block_size": [128]}, r"weight_block_size = \[128\]: must be two positive"),
        ({"quant_method": "fp8", "expert_dtype": "fp4"}, "expert_dtype = 'fp4': only 'fp8' is supported"),
        ({"quant_method": "bitsandbytes"}, "load_in_4bit, load_in_8bit: one of them must be true"),
        ({"quant_method": "modelopt"}, "quant_algo = None: must be FP8 or "),
        ({"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"}, "quant_algo = 'W4A8_AWQ': must be FP8 or "),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 32}, "group_size = 32: must be 16"),
        ({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"}, "quantized_layers = None: must map"),
        ({"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a.b": {"quant_algo": "FP8"}}},
         "it names no module that this architecture is known to have"),
        ({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_scheme": "INT3"}, "kv_cache_scheme = 'INT3'"),
        ({"mode": "mxfp3"}, "mode = 'mxfp3': must be 'affine' or 'mxfp4'"),
        (groups({"num_bits": 4, "group_size": 64}, stored_as="marlin-24"), "format = 'marlin"),
        (groups({"num_bits": 4}, {"num_bits": 4, "type": "int"}), "input_activations: num_bits"),
        (groups({"num_bits": 4, "strategy": "token"}), "strategy = 'token': must be"),
        (groups({"num_bits": 4, "group_size": 64}, sparsity_config={"format": "sparse-24-bitmask"}),
         "sparsity_config = .*: sparse weights cannot be counted"),
        ({"quant_method": "compressed-tensors", "config_groups": {"W4A16": ["Linear"]}}, "config_groups = "),
        ({"quant_method": "compressed-tensors", "config_groups": {"a": {"targets": ["Embedding"], "weights": {}}}},
         r"targets = \['Embedding'\]: of classes, only Linear can be counted"),
    ],
)
def test_what_cannot_be_counted_is_refused(fields, message):
    with pytest.raises(ValueError, match=rf"^quantization_config: {message}"):
        read_config(quantised(**fields))
    assert read_config(quantised(**fields), quantisation={}).stored == {}


def test_other_places_of_a_quantisation_are_named():
    with pytest.raises(ValueError, match=r"^quantization_config = 'awq': must be an object$"):
        read_config(of("mlx-4bit") | {"quantization": None, "quantization_config": "awq"})
    with pytest.raises(ValueError, match=r"^quantization: bits: missing from the config$"):
        read_config(of("mlx-4bit") | {"quantization": {"group_size": 64, "mode": "affine"}})
    with pytest.raises(ValueError, match=r"^hf_quant_config\.json: quantization: missing$"):
        read_config(of("mlx-4bit"), quantisation={"producer": {}})


def test_the_data_type_of_what_is_not_quantised():
    config = of("gpt-oss-20b")
    assert read_config(config | {"torch_dtype": "float32"}).bytes_per_element == 4
    for untold in ({"torch_dtype": None}, {"dtype": None}):
        with pytest.raises(ValueError, match=r"dtype: missing from the config$"):
            read_config(of("mlx-4bit") | {"torch_dtype": None} | untold)
    with pytest.raises(ValueError, match=r"^torch_dtype = 'auto': the file's tensors decide; write their data type"):
        read_config(config | {"torch_dtype": "auto"})


def test_mlx_calls_stacked_experts_a_switch():
    settings = {"bits": 4, "group_size": 64} | {
        f"model.layers.{i}.mlp.switch_mlp.up_proj": {"bits": 8} for i in range(48)
    } | {f"model.layers.{i}.mlp.gate": {"bits": 8} for i in range(48)}
    config = of("qwen3-30b-awq-attention-16bit") | {"quantization_config": None, "quantization": settings}
    every, eight = Stored(0.5625), Stored(1.0625)
    assert read_config(config).stored == {
        "layers": every, "expert_up_proj": eight, "router": eight, "lm_head": every, "embedding": every,
    }


def excluding(name: str, *excluded: str) -> Callable[[str], Stored]:
    config = {"dtype": "bfloat16"} | of(name)
    rules = {"quant_algo": "NVFP4", "exclude_modules": list(excluded)}
    return read_config(config, quantisation={"quantization": rules}).precision.stored


def test_layers_of_several_kinds_are_asked_by_their_number():
    """Nemotron 3 Nano: 23 layers with Mamba-2, the first of them 0, 2 and 4; experts from 1 on, attention from 5."""
    name = "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"
    first = [f"backbone.layers.{i}.mixer.in_proj" for i in (0, 2, 4)]
    assert of(name)["hybrid_override_pattern"].startswith("MEMEM*E")
    assert excluding(name, *first)("mamba_in_proj").width == pytest.approx((3 * 2 + 20 * NVFP4) / 23)
    attention = excluding(name, "backbone.layers.5.mixer.q_proj", "backbone.layers.4.mixer.q_proj")
    assert attention("q_proj").width == pytest.approx((2 + 5 * NVFP4) / 6)
    experts = excluding(name, "backbone.layers.1.mixer.experts*", "backbone.layers.1.mixer.shared_experts")
    assert experts("expert_up_proj").width == experts("shared_up_proj").width == pytest.approx((2 + 22 * NVFP4) / 23)


def test_gated_delta_nets_by_name():
    """Qwen3.5-35B-A3B: 30 layers of 40 are gated delta nets, the fourth, eighth … are attention."""
    stored = excluding("Qwen3.5-35B-A3B", "model.language_model.layers.0.linear_attn*", "*.layers.3.self_attn.*")
    assert stored("linear_z_proj").width == stored("linear_out_proj").width == pytest.approx((2 + 29 * NVFP4) / 30)
    assert stored("q_proj").width == pytest.approx((2 + 9 * NVFP4) / 10)
    joint = excluding("Qwen3-Next-80B-A3B-Instruct", "model.layers.0.linear_attn.in_proj_qkvz")
    assert joint("linear_qkv_proj") == joint("linear_z_proj") != Stored(NVFP4, "fp4")
    assert joint("linear_b_proj") == Stored(NVFP4, "fp4")


def test_matrices_of_two_shapes_count_by_their_size():
    """Gemma 4 31B: 10 of 60 layers have queries of 32 x 512, the others of 32 x 256. E2B: the last MLPs are wider."""
    stored = excluding("gemma-4-31B", "model.language_model.layers.5.self_attn.q_proj")
    assert stored("q_proj").width == pytest.approx(NVFP4 + (2 - NVFP4) * 512 / (10 * 512 + 50 * 256))
    stored = excluding("gemma-4-E2B", "model.language_model.layers.34.mlp.up_proj")
    assert stored("up_proj").width == pytest.approx(NVFP4 + (2 - NVFP4) * 2 / (15 + 20 * 2))
    shared = excluding("gemma-4-E2B", *(f"model.language_model.layers.{i}.self_attn.k_proj" for i in range(15, 35)))
    assert shared("k_proj") == Stored(NVFP4, "fp4")  # they have none


def test_llama_4_names_its_layers_with_experts():
    """Every other one of Maverick's 48."""
    stored = excluding("Llama-4-Maverick-17B-128E-Instruct", "language_model.model.layers.1.feed_forward*")
    assert stored("expert_up_proj").width == stored("shared_up_proj").width == pytest.approx((2 + 23 * NVFP4) / 24)
    assert stored("up_proj") == Stored(NVFP4, "fp4")
    dense = excluding("Llama-4-Maverick-17B-128E-Instruct", "language_model.model.layers.0.feed_forward*")
    assert dense("up_proj").width == pytest.approx((2 + 23 * NVFP4) / 24)


@pytest.mark.parametrize("name", [
    "DeepSeek-V3.2", "GLM-4.5-Air", "GLM-4-9B-0414", "Kimi-K2.5", "Llama-4-Scout-17B-16E-Instruct", "phi-4", "glm-4-9b",
    "Phi-3.5-MoE-instruct", "Qwen3-VL-235B-A22B-Instruct", "granite-4.0-h-small", "gemma-4-26B-A4B", "internlm2-7b",
    "Nemotron-H-56B-Base-8K", "NVIDIA-Nemotron-3-Super-120B-A12B-FP8", "gemma-4-E4B", "Qwen3.5-27B", "MiniMax-M2.5",
])
def test_every_matrix_has_a_name(name):
    """And the modules' sizes are those of the model: so each is asked about as often as it is there."""
    config = {"dtype": "bfloat16"} | of(name)
    for part in (config, config.get("text_config", {})):
        part.pop("quantization_config", None)
    model, architecture = read_config(config), config["architectures"][0]
    found = list(modules(model, architecture, config))
    known = {**USUAL, **USUAL_ENDS, **DEPARTING.get(architecture, {})}
    assert {module.name for module in found} <= set(known)
    of_one_expert = sum(line.K * line.N * line.layers for line in model.linear_layers().values())
    assert sum(module.K * module.N for module in found) == of_one_expert + 2 * model.hidden * model.vocab
