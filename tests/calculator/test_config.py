"""Models read from Hugging Face config.json: each supported architecture gives its catalogued shapes."""

import dataclasses
import json
from pathlib import Path

import pytest

from roofline_calc import MODELS, read_config


def common(architecture: str, hidden: int, layers: int, intermediate: int, vocab: int, heads: int, **own) -> dict:
    return {
        "architectures": [architecture], "hidden_size": hidden, "num_hidden_layers": layers, "vocab_size": vocab,
        "intermediate_size": intermediate, "num_attention_heads": heads, "torch_dtype": "bfloat16", **own,
    }


QWEN25 = common(
    "Qwen2ForCausalLM", 3584, 28, 18944, 152064, 28, num_key_value_heads=4, tie_word_embeddings=False,
    use_sliding_window=False, sliding_window=131072, max_window_layers=28,
)
GPT_OSS = common(
    "GptOssForCausalLM", 2880, 24, 2880, 201088, 64, num_key_value_heads=8, head_dim=64, attention_bias=True,
    num_local_experts=32, num_experts_per_tok=4, sliding_window=128, tie_word_embeddings=False,
    layer_types=["sliding_attention", "full_attention"] * 12, quantization_config={"quant_method": "mxfp4"},
)
DEEPSEEK = common(
    "DeepseekV3ForCausalLM", 7168, 61, 18432, 129280, 128, num_key_value_heads=128, q_lora_rank=1536, kv_lora_rank=512,
    qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128, n_routed_experts=256, num_experts_per_tok=8,
    moe_intermediate_size=2048, n_shared_experts=1, first_k_dense_replace=3, moe_layer_freq=1, topk_method="noaux_tc",
    attention_bias=False, tie_word_embeddings=False, num_nextn_predict_layers=1,
    quantization_config={"quant_method": "fp8", "weight_block_size": [128, 128]},
)
GEMMA2 = common(
    "Gemma2ForCausalLM", 3584, 42, 14336, 256000, 16, num_key_value_heads=8, head_dim=256, sliding_window=4096,
)
QWEN3_MOE = common(
    "Qwen3MoeForCausalLM", 2048, 48, 6144, 151936, 32, num_key_value_heads=4, head_dim=128, attention_bias=False,
    num_experts=128, num_experts_per_tok=8, moe_intermediate_size=768, decoder_sparse_step=1, mlp_only_layers=[],
    tie_word_embeddings=False, use_sliding_window=False, sliding_window=None, max_window_layers=48,
)

CONFIGS = {
    "qwen2.5-7b": QWEN25,
    "llama-3.1-8b": common("LlamaForCausalLM", 4096, 32, 14336, 128256, 32, num_key_value_heads=8,
                           attention_bias=False, mlp_bias=False, tie_word_embeddings=False),
    "llama-3.2-1b": common("LlamaForCausalLM", 2048, 16, 8192, 128256, 32, num_key_value_heads=8, head_dim=64,
                           tie_word_embeddings=True),
    "llama-2-7b": common("LlamaForCausalLM", 4096, 32, 11008, 32000, 32),
    "mistral-7b": common("MistralForCausalLM", 4096, 32, 14336, 32768, 32, num_key_value_heads=8, sliding_window=None),
    "mixtral-8x7b": common("MixtralForCausalLM", 4096, 32, 14336, 32000, 32, num_key_value_heads=8,
                           num_local_experts=8, num_experts_per_tok=2, sliding_window=None),
    "qwen3-8b": common("Qwen3ForCausalLM", 4096, 36, 12288, 151936, 32, num_key_value_heads=8, head_dim=128,
                       attention_bias=False, tie_word_embeddings=False),
    "qwen3-30b-a3b": QWEN3_MOE,
    "gemma-2-9b": GEMMA2,
    "gemma-3-1b": common("Gemma3ForCausalLM", 1152, 26, 6912, 262144, 4, num_key_value_heads=1, head_dim=256,
                         sliding_window=512, sliding_window_pattern=6),
    "phi-3-mini": common("Phi3ForCausalLM", 3072, 32, 8192, 32064, 32, num_key_value_heads=32, sliding_window=2047),
    "deepseek-v2-lite": common(
        "DeepseekV2ForCausalLM", 2048, 27, 10944, 102400, 16, num_key_value_heads=16, q_lora_rank=None,
        kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128, n_routed_experts=64,
        num_experts_per_tok=6, moe_intermediate_size=1408, n_shared_experts=2, first_k_dense_replace=1,
        topk_method="greedy"),
    "deepseek-v3": DEEPSEEK,
    "gpt-oss-20b": GPT_OSS,
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_gives_the_catalogued_model(name):
    catalogued = MODELS[name]
    read = read_config(CONFIGS[name], name=catalogued.name)
    assert dataclasses.replace(read, source=catalogued.source) == catalogued


def test_the_language_model_within_a_multimodal_gemma_3():
    """Gemma 3 4B's config leaves heads and vocabulary to its class; 3,880,263,168 with 262,208 rows of embedding."""
    text = {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}
    config = {"architectures": ["Gemma3ForConditionalGeneration"], "text_config": text, "torch_dtype": "bfloat16"}
    model = read_config(config)
    assert (model.n_q, model.n_kv, model.window_layers) == (8, 4, 29)
    # A text-only release of the same model, with 262,144 rows, has 3,880,099,328 parameters (its Keras preset).
    assert dataclasses.replace(model, vocab=262144).params == 3_880_099_328
    with pytest.raises(ValueError, match=r"^text_config: missing from the config$"):
        read_config(config | {"text_config": None})


def test_a_path_is_read_and_named(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(QWEN25), encoding="utf-8")
    for given in (path, str(path)):
        model = read_config(given)
        assert (model.params, model.source, model.name) == (7_615_616_512, str(path), "Qwen2ForCausalLM")
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"config\.json: not a JSON file"):
        read_config(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match=r"config\.json: must hold one JSON object"):
        read_config(path)


def test_the_name_comes_from_the_caller_or_the_config():
    assert read_config(QWEN25 | {"_name_or_path": "Qwen/Q"}).name == "Qwen/Q"
    assert read_config(QWEN25 | {"_name_or_path": "Qwen/Q"}, name="mine").name == "mine"


@pytest.mark.parametrize(
    "key", ["hidden_size", "num_hidden_layers", "intermediate_size", "vocab_size", "num_attention_heads", "torch_dtype"]
)
def test_a_missing_field_is_named(key):
    config = {name: value for name, value in QWEN25.items() if name != key}
    with pytest.raises(ValueError, match=rf"^{key}: missing from the config$"):
        read_config(config)


@pytest.mark.parametrize(
    ("name", "key"),
    [("qwen3-8b", "head_dim"), ("gemma-2-9b", "head_dim"), ("gpt-oss-20b", "head_dim"),
     ("mixtral-8x7b", "num_local_experts"), ("mixtral-8x7b", "num_experts_per_tok"), ("qwen3-30b-a3b", "num_experts"),
     ("qwen3-30b-a3b", "moe_intermediate_size"), ("deepseek-v3", "kv_lora_rank"), ("deepseek-v3", "n_routed_experts"),
     ("deepseek-v3", "first_k_dense_replace"), ("deepseek-v3", "v_head_dim"), ("deepseek-v3", "q_lora_rank"),
     ("deepseek-v3", "n_shared_experts"), ("mistral-7b", "sliding_window"), ("gemma-2-9b", "sliding_window"),
     ("mistral-7b", "num_key_value_heads"), ("gpt-oss-20b", "tie_word_embeddings")],
)
def test_an_architectures_own_missing_field_is_named(name, key):
    """Also where its class has a default that would change the parameters: none is assumed."""
    config = {field: value for field, value in CONFIGS[name].items() if field != key}
    with pytest.raises(ValueError, match=rf"^{key}: missing from the config$"):
        read_config(config)


@pytest.mark.parametrize(
    ("config", "changed", "message"),
    [
        (QWEN25, {"hidden_size": "3584"}, r"^hidden_size = '3584': must be a positive whole number$"),
        (QWEN25, {"hidden_size": True}, r"^hidden_size = True: must be a positive whole number$"),
        (QWEN25, {"num_hidden_layers": 0}, r"^num_hidden_layers = 0: must be a positive whole number$"),
        (QWEN25, {"num_key_value_heads": 3}, r"^num_key_value_heads = 3: must divide num_attention_heads \(28\)$"),
        (QWEN25, {"num_attention_heads": 24}, r"^num_attention_heads = 24: must divide hidden_size \(3584\)"),
        (QWEN25, {"tie_word_embeddings": 1}, r"^tie_word_embeddings = 1: must be true or false$"),
        (QWEN25, {"torch_dtype": "int8"}, r"^torch_dtype = 'int8': must be 'float32' or 'bfloat16' or 'float16'$"),
        (QWEN25, {"architectures": []}, r"^architectures: must name exactly one, and this names none"),
        (QWEN25, {"architectures": ["GPT2LMHeadModel"]},
         r"^architectures = 'GPT2LMHeadModel': not supported; known are LlamaForCausalLM, .*GptOssForCausalLM$"),
        (QWEN3_MOE, {"num_experts_per_tok": 129}, r"^num_experts_per_tok = 129: must be at most num_experts \(128\)$"),
        (QWEN3_MOE, {"mlp_only_layers": [48]}, r"^mlp_only_layers = \[48\]: must list layers from 0 to 47$"),
        (QWEN3_MOE, {"mlp_only_layers": 3}, r"^mlp_only_layers = 3: must list layers from 0 to 47$"),
        (DEEPSEEK, {"first_k_dense_replace": 61}, r"^first_k_dense_replace = 61: must be less than num_hidden"),
        (DEEPSEEK, {"moe_layer_freq": 2}, r"^moe_layer_freq = 2: only 1 is supported for this architecture$"),
        (DEEPSEEK, {"topk_method": "greedy"}, r"^topk_method = 'greedy': only 'noaux_tc' is supported"),
        (DEEPSEEK, {"attention_bias": True}, r"^attention_bias = True: only False is supported"),
        (GPT_OSS, {"attention_bias": False}, r"^attention_bias = False: only True is supported"),
        (GPT_OSS, {"layer_types": ["full_attention"]}, r"^layer_types: must name sliding_attention or full_attention"),
        (GPT_OSS, {"layer_types": ["linear_attention"] * 24}, r"^layer_types: must name sliding_attention or full"),
        (GPT_OSS, {"sliding_window": None}, r"^sliding_window: missing from the config, though"),
        (GPT_OSS, {"sliding_window": -1}, r"^sliding_window = -1: must be a positive whole number$"),
        (GEMMA2, {"quantization_config": {"quant_method": "nf4"}}, r"^quantization_config: quant_method = 'nf4'"),
        (GEMMA2, {"quantization_config": "awq"}, r"^quantization_config = 'awq': must be an object$"),
        (GEMMA2, {"quantization_config": {"quant_method": "awq"}}, r"^quantization_config: bits: missing"),
    ],
)
def test_a_contradictory_field_is_named(config, changed, message):
    with pytest.raises(ValueError, match=message):
        read_config(config | changed)


def test_sliding_windows():
    assert read_config(GEMMA2).window_layers == 21
    explicit = ["full_attention"] * 41 + ["sliding_attention"]
    assert read_config(GEMMA2 | {"layer_types": explicit}).window_layers == 1
    assert read_config(GEMMA2 | {"layer_types": ["full_attention"] * 42}).window is None
    everywhere = read_config(CONFIGS["mistral-7b"] | {"sliding_window": 4096})
    assert (everywhere.window, everywhere.window_layers) == (4096, 32)
    upper = read_config(QWEN25 | {"use_sliding_window": True, "max_window_layers": 20})
    assert (upper.window, upper.window_layers) == (131072, 8)
    assert read_config(QWEN25 | {"use_sliding_window": True, "max_window_layers": 0}).window_layers == 28


def test_dense_layers_among_experts():
    assert read_config(QWEN3_MOE | {"mlp_only_layers": [0, 5]}).moe.dense_layers == 2
    assert read_config(QWEN3_MOE | {"decoder_sparse_step": 2}).moe.dense_layers == 24
    assert read_config(DEEPSEEK | {"first_k_dense_replace": 0}).moe.dense_layers == 0
    assert read_config(DEEPSEEK | {"n_shared_experts": None}).moe.shared_intermediate == 0


def test_biases():
    plain = read_config(CONFIGS["llama-3.1-8b"])
    attention = read_config(CONFIGS["llama-3.1-8b"] | {"attention_bias": True})
    assert attention.params - plain.params == 32 * (4096 + 2 * 1024 + 4096)
    mlp = read_config(CONFIGS["llama-3.1-8b"] | {"mlp_bias": True})
    assert mlp.params - plain.params == 32 * (2 * 14336 + 4096)


def test_newer_configs_call_the_data_type_dtype():
    config = {key: value for key, value in QWEN25.items() if key != "torch_dtype"}
    assert read_config(config | {"dtype": "float32"}).bytes_per_element == 4


PUBLISHED = Path(__file__).parent / "configs"


def published(name: str, **changed) -> dict:
    """A published config with fields changed; None takes one out."""
    fields = json.loads((PUBLISHED / f"{name}.json").read_text(encoding="utf-8"))
    text = fields.get("text_config", fields)
    text.update(changed)
    for field in [field for field, value in changed.items() if value is None]:
        del text[field]
    return fields


def test_windows_by_the_architectures_own_rule():
    """Every other layer from the first on: of 23 layers twelve, whichever way an even number hides it."""
    gpt_oss = {key: value for key, value in GPT_OSS.items() if key != "layer_types"}
    assert read_config(gpt_oss | {"num_hidden_layers": 23}).window_layers == 12
    assert read_config(GEMMA2 | {"num_hidden_layers": 23}).window_layers == 12


def test_linear_attention_hidden_in_a_list_is_refused():
    layers = read_config(published("MiniMax-M2.5")).layers
    assert read_config(published("MiniMax-M2.5", attn_type_list=[1] * layers)).layers == layers
    with pytest.raises(ValueError, match=r"^attn_type_list: names linear attention \(0\)"):
        read_config(published("MiniMax-M2.5", attn_type_list=[0, 1] * (layers // 2)))


@pytest.mark.parametrize("name", ["Llama-4-Scout-17B-16E-Instruct", "Qwen3-Next-80B-A3B-Instruct"])
def test_a_head_dim_that_is_no_quotient_must_be_given(name):
    with pytest.raises(ValueError, match=r"^head_dim: missing from the config$"):
        read_config(published(name, head_dim=None))


@pytest.mark.parametrize(("name", "field", "value", "message"), [
    ("SmolLM3-3B", "no_rope_layers", [1] * 37, "must hold 0 or 1 for each of 36 layers"),
    ("SmolLM3-3B", "no_rope_layers", [1] * 35, "must hold 0 or 1 for each of 36 layers"),
    ("GLM-4-9B-0414", "partial_rotary_factor", -0.5, "must be a number above 0 and at most 1"),
    ("GLM-4-9B-0414", "partial_rotary_factor", 0, "must be a number above 0 and at most 1"),
])
def test_fields_that_make_no_sense(name, field, value, message):
    with pytest.raises(ValueError, match=rf"^{field} = .*: {message}$"):
        read_config(published(name, torch_dtype="bfloat16", **{field: value}))


@pytest.mark.parametrize(("quantised", "message"), [
    ({"quant_method": "fp8", "weight_block_size": [128, 128, 2]}, "must be two positive whole numbers"),
    ({"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {
        "group_0": {"targets": ["Module"], "weights": {"num_bits": 4, "group_size": 128, "strategy": "group"}}}},
     "of classes, only Linear can be counted"),
])
def test_quantisation_that_cannot_be_counted(quantised, message):
    with pytest.raises(ValueError, match=message):
        read_config(QWEN25 | {"quantization_config": quantised})


def test_modules_that_bitsandbytes_skips():
    quantised: dict = {"quant_method": "bitsandbytes", "load_in_4bit": True}
    usual = read_config(QWEN25 | {"quantization_config": quantised}).precision
    quantised["llm_int8_skip_modules"] = ["down_proj"]
    named = read_config(QWEN25 | {"quantization_config": quantised}).precision
    assert (usual.stored("lm_head").width, usual.stored("down_proj").width) == (2, 0.5625)
    assert named.stored("down_proj").width == 2
    assert named.stored("up_proj").width == 0.5625
