"""Real config.json files (their fields, in configs/) against parameter counts that others published."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from roofline_calc import MODELS, Model, read_config
from roofline_calc.checkpoints.architectures import ARCHITECTURES, NOT_COUNTED

FOLDER = Path(__file__).parent / "configs"
HUB = "safetensors total in the Hugging Face Hub's metadata of the model"
KVFIT = "parameter count of the Hub's safetensors metadata in debaditc/kvfit, src/kvfit/data/models.json"
KERAS = "params of the preset in keras-team/keras-hub, keras_hub/src/models"
TOWER = "; vision tower and projector counted from the modules of transformers 5.25.0"


def config(name: str) -> dict[str, Any]:
    """A config without its quantisation, which changes bytes and no count; some of the files lack the data type."""
    found = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    for part in (found, found.get("text_config", {})):
        part.pop("quantization_config", None)
    return {"dtype": "bfloat16"} | found


class Published(NamedTuple):
    """A published total, what of it our count leaves out (vision, say), and KV cache per token in values."""

    total: int
    kv: int
    source: str
    beside: int = 0


TOTALS = {
    "Qwen1.5-MoE-A2.7B-Chat-GPTQ-Int4": Published(14_315_784_192, 98_304, KERAS),
    "Qwen2-57B-A14B": Published(57_408_658_944, 28_672, HUB),
    "Qwen2.5-VL-7B-Instruct": Published(8_292_166_656, 28_672, HUB + TOWER, beside=676_550_144),
    "Qwen3-4B": Published(4_022_468_096, 73_728, KERAS),
    "Qwen3-32B": Published(32_762_123_264, 131_072, KERAS),
    "Qwen3-235B-A22B": Published(235_093_634_560, 96_256, KERAS),
    "Qwen3-Coder-480B-A35B-Instruct": Published(480_154_875_392, 126_976, HUB),
    "Qwen3-VL-2B-Instruct": Published(2_127_532_032, 57_344, HUB + TOWER, beside=406_957_056),
    "Qwen3-VL-8B-Instruct": Published(8_767_123_696, 73_728, HUB + TOWER, beside=576_388_336),
    "Qwen3-VL-235B-A22B-Instruct": Published(235_670_022_896, 96_256, HUB + TOWER, beside=576_388_336),
    "GLM-4-9B-0414": Published(9_400_279_040, 20_480, "n_params that llama.cpp prints for the model"),
    "glm-4-9b": Published(9_399_951_360, 20_480, "'with 9399951360 parameters' in THUDM's demo of GLM-4"),
    "glm-4-9b-chat-hf": Published(9_399_951_360, 20_480, "the same model under the names of transformers"),
    "GLM-4.5-Air": Published(106_852_251_264, 94_208, HUB + " INTELLECT-3, trained from it, without MTP"),
    "MiniMax-M2.5": Published(228_689_764_864, 126_976, HUB + " MiniMax-M2, of the same shapes"),
    "granite-3.3-8b-instruct": Published(8_170_864_640, 81_920, HUB),
    "SmolLM3-3B": Published(3_075_098_624, 36_864, HUB),
    "OLMo-2-1124-7B": Published(7_298_617_344, 262_144, HUB),
    "OLMo-3-7B": Published(7_298_011_136, 262_144, "num_params=7298011136 in openeurollm-project's training log"),
    "Olmo-3.1-32B-Instruct": Published(32_233_522_176, 131_072, "OLMo 3 32B in public scripts that count its bits"),
    "Mistral-Small-3.2-24B": Published(24_011_361_280, 81_920, KVFIT + TOWER, beside=438_958_080),
    "Devstral-Small-2-24B-Instruct": Published(23_572_403_200, 81_920, KERAS),
    "aya-23-8B": Published(8_028_033_024, 65_536, "parameter count of aya-expanse-8b, of the same shapes"),
    "internlm2-7b": Published(7_737_708_544, 65_536, "'with 7737708544 parameters' in InternLM's chat demo"),
    "Llama-3.3-70B-Instruct": Published(70_553_706_496, 163_840, KVFIT),
    "Llama-4-Scout-17B-16E-Instruct": Published(108_641_793_536, 98_304, KVFIT + TOWER, beside=871_932_416),
    "Llama-4-Maverick-17B-128E-Instruct": Published(401_583_781_376, 98_304, HUB + TOWER, beside=871_932_416),
    "Qwen3-Next-80B-A3B-Instruct": Published(79_674_391_296, 12_288, HUB + " Qwen3-Coder-Next, of the same shapes"),
    "Qwen3.5-27B": Published(27_356_728_560, 32_768, KERAS + TOWER, beside=460_730_096),
    "Qwen3.5-35B-A3B": Published(34_660_610_688, 10_240, KERAS),
    "Qwen3.5-122B-A10B": Published(122_111_526_912, 12_288, "n_params that llama.cpp prints for the model"),
    "Qwen3.5-397B-A17B": Published(396_802_360_816, 15_360, HUB + " a derivative" + TOWER, beside=456_010_480),
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": Published(31_577_940_288, 3_072, "n_params that llama.cpp prints for it"),
    "NVIDIA-Nemotron-Nano-9B-v2": Published(8_888_227_328, 8_192, KVFIT),
    "granite-4.0-h-small": Published(32_207_337_984, 8_192, KVFIT),
    "phi-4": Published(14_659_507_200, 102_400, KVFIT),
    "gemma-3-12b-it": Published(12_187_325_040, 196_608, KVFIT + TOWER, beside=421_290_864),
    "gemma-3-27b-it": Published(27_432_406_640, 253_952, KVFIT + TOWER, beside=423_060_336),
    "gemma-4-26B-A4B": Published(25_805_936_206, 112_640, "sum of its safetensors index" + TOWER, beside=572_794_416),
    "gemma-4-31B": Published(31_273_088_876, 450_560, "sum of its safetensors index" + TOWER, beside=575_743_536),
    # The Hub counts 3,416 = 61 x 56 more than the formula, which nobody explains.
    "Kimi-K2-Instruct": Published(1_026_408_235_864, 35_136, HUB, beside=3_416),
    "Kimi-K2.5": Published(1_026_408_235_864, 35_136, "Kimi K2, of whose shapes its language model is", beside=3_416),
}


@pytest.mark.parametrize("name", TOTALS)
def test_a_real_config_has_its_published_parameters(name):
    published, model = TOTALS[name], read_config(config(name))
    assert model.params + published.beside == published.total, published.source
    assert model.kv_bytes_per_token == 2 * published.kv


def prediction_layer(model: Model, own_vocabulary: bool) -> int:
    """Parameters of a multi-token-prediction layer: one more decoder layer, three norms, and a matrix 2h x h."""
    layer = replace(model, layers=model.layers + 1).params - model.params
    vocabulary = 2 * model.vocab * model.hidden if own_vocabulary else 0
    return layer + 3 * model.hidden + 2 * model.hidden**2 + vocabulary


@pytest.mark.parametrize(
    ("name", "total", "own_vocabulary"),
    [("GLM-4.5", 358_337_791_296, True), ("GLM-4.5-Air", 110_468_824_832, True), ("GLM-4.6", 356_785_898_816, False),
     ("GLM-5", 753_864_139_008, False), ("DeepSeek-V3.2", 685_355_329_792, True),
     ("Qwen3-Next-80B-A3B-Instruct", 81_324_862_720, False)],
)
def test_totals_that_count_the_prediction_layer(name, total, own_vocabulary):
    """The Hub's totals of these count it (without FP8 scales); some store an embedding and a head for it."""
    model = read_config(config(name))
    assert model.params + prediction_layer(model, own_vocabulary) == total


def test_the_prediction_layers_of_nemotron_3_super():
    """Attention, experts, three norms and a matrix; the published list leaves the router's corrections out."""
    model = read_config(config("NVIDIA-Nemotron-3-Super-120B-A12B-FP8"))
    more = replace(model, layers=model.layers + 2, ffn_layers=model.ffn_layers + 1, nope_layers=0).params - model.params
    prediction = more + 3 * model.hidden + 2 * model.hidden**2
    corrections = (model.ffn_layers + 1) * model.moe.experts
    assert model.params + prediction - corrections == 123_611_012_096


@pytest.mark.parametrize(
    ("name", "total", "vision_and_audio"),
    [("gemma-4-E2B", 5_123_178_051, 168_544_256 + 307_183_904),
     ("gemma-4-E4B", 7_996_156_490, 169_330_688 + 308_756_768)],
)
def test_gemma_4_stores_what_its_last_layers_do_not_use(name, total, vision_and_audio):
    """The Hub's totals hold k_proj, v_proj and the keys' norm of layers that read another's cache."""
    model = read_config(config(name))
    full, slid = model.global_heads, model.shared_cache
    unused = slid.full * (2 * model.hidden * full.n_kv * full.head_dim + full.head_dim)
    unused += slid.window * (2 * model.hidden * model.n_kv * model.head_dim + model.head_dim)
    assert model.params + unused + vision_and_audio == total


# name: values that the convolution keeps, values of the state, bytes per value of the state
STATES = {
    "Qwen3-Next-80B-A3B-Instruct": (884_736, 18_874_368, 2), "Qwen3.5-35B-A3B": (737_280, 15_728_640, 4),
    "Qwen3.5-27B": (1_474_560, 37_748_736, 4), "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": (423_936, 12_058_624, 4),
    "NVIDIA-Nemotron-Nano-9B-v2": (995_328, 35_389_440, 2), "granite-4.0-h-small": (912_384, 37_748_736, 2),
}


@pytest.mark.parametrize("name", STATES)
def test_the_state_of_a_sequence(name):
    """Shapes as vLLM 0.34.0 allocates them (model_executor/layers/mamba/mamba_utils.py)."""
    kept, state, width = STATES[name]
    model = read_config(config(name))
    assert model.state_bytes() == 2 * kept + width * state
    assert model.cache_bytes([100, 28]) == 128 * model.kv_bytes_per_token + 2 * model.state_bytes()


@pytest.mark.parametrize(("name", "latent", "layers"), [("DeepSeek-V3.2", 35_136, 61), ("GLM-5", 44_928, 78)])
def test_index_keys_beside_the_latent_cache(name, latent, layers):
    """132 bytes in each layer: 128 values in FP8 and their scale (vLLM 0.34.0, models/deepseek_v2.py)."""
    assert read_config(config(name)).kv_bytes_per_token == 2 * latent + 132 * layers


def test_totals_without_an_exact_publication():
    """Cards round them ("16x3.8B"); the counts are those of the modules that transformers 5.25.0 builds."""
    assert read_config(config("Nemotron-H-56B-Base-8K")).params == 56_324_350_464
    assert read_config(config("NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16")).params == 549_308_993_536
    assert read_config(config("Phi-3.5-MoE-instruct")).params == 41_873_153_344
    assert read_config(config("c4ai-command-r-v01")).params == 34_980_831_232


@pytest.mark.parametrize(
    ("hidden", "layers", "heads", "kv_heads", "intermediate", "total"),
    [(2048, 18, 8, 1, 16384, 2_506_172_416), (3072, 28, 16, 16, 24576, 8_537_680_896)],
)
def test_the_first_gemma(hidden, layers, heads, kv_heads, intermediate, total):
    """2B and 7B; totals as keras-team/keras-hub states them in gemma_presets.py."""
    model = read_config({
        "architectures": ["GemmaForCausalLM"], "hidden_size": hidden, "num_hidden_layers": layers, "head_dim": 256,
        "num_attention_heads": heads, "num_key_value_heads": kv_heads, "intermediate_size": intermediate,
        "vocab_size": 256000, "torch_dtype": "bfloat16",
    })
    assert model.params == total


# Entries of the catalogue that are not read elsewhere, and the configs that have their shapes.
CATALOGUED = {
    "qwen3-4b": "Qwen3-4B",
    "qwen3-32b": "Qwen3-32B",
    "qwen3-235b-a22b": "Qwen3-235B-A22B",
    "qwen3-coder-480b-a35b": "Qwen3-Coder-480B-A35B-Instruct",
    "qwen3-next-80b-a3b": "Qwen3-Next-80B-A3B-Instruct",
    "qwen3.5-27b": "Qwen3.5-27B",
    "qwen3.5-35b-a3b": "Qwen3.5-35B-A3B",
    "qwen3.5-397b-a17b": "Qwen3.5-397B-A17B",
    "llama-3.3-70b": "Llama-3.3-70B-Instruct",
    "llama-4-scout": "Llama-4-Scout-17B-16E-Instruct",
    "llama-4-maverick": "Llama-4-Maverick-17B-128E-Instruct",
    "mistral-small-3.2": "Mistral-Small-3.2-24B",
    "gemma-3-12b": "gemma-3-12b-it",
    "gemma-3-27b": "gemma-3-27b-it",
    "gemma-4-e4b": "gemma-4-E4B",
    "gemma-4-26b-a4b": "gemma-4-26B-A4B",
    "gemma-4-31b": "gemma-4-31B",
    "phi-4": "phi-4",
    "deepseek-v3.2": "DeepSeek-V3.2",
    "kimi-k2": "Kimi-K2-Instruct",
    "glm-4.5-air": "GLM-4.5-Air",
    "glm-4.6": "GLM-4.6",
    "glm-5": "GLM-5",
    "minimax-m2": "MiniMax-M2.5",
    "nemotron-3-nano": "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "nemotron-3-super": "NVIDIA-Nemotron-3-Super-120B-A12B-FP8",
    "olmo-3-7b": "OLMo-3-7B",
    "olmo-3.1-32b": "Olmo-3.1-32B-Instruct",
    "smollm3-3b": "SmolLM3-3B",
    "granite-3.3-8b": "granite-3.3-8b-instruct",
    "granite-4.0-h-small": "granite-4.0-h-small",
}


@pytest.mark.parametrize("key", CATALOGUED)
def test_the_catalogue_has_the_shapes_of_the_config(key):
    catalogued, model = MODELS[key], read_config(config(CATALOGUED[key]))
    unlike = {"name": model.name, "source": model.source, "stored": model.stored}
    assert replace(catalogued, **unlike) == model


FURTHER = {"gemma-4-E2B", "GLM-4.5", "GLM-4.6", "GLM-5", "DeepSeek-V3.2", "Phi-3.5-MoE-instruct", "c4ai-command-r-v01"}
ELSEWHERE = {  # tried in test_config.py or above
    "LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "Qwen3MoeForCausalLM",
    "Gemma2ForCausalLM", "Gemma3ForCausalLM", "Phi3ForCausalLM", "MixtralForCausalLM", "DeepseekV2ForCausalLM",
    "DeepseekV3ForCausalLM", "GptOssForCausalLM", "GemmaForCausalLM",
}


def test_every_architecture_is_tried():
    """Command R7B's (Cohere2) differs from Command-R's by its window alone."""
    tried = {config(name)["architectures"][0] for name in [*TOTALS, *FURTHER]}
    assert set(ARCHITECTURES) == tried | ELSEWHERE | {"Cohere2ForCausalLM"}


@pytest.mark.parametrize("name", NOT_COUNTED)
def test_an_architecture_that_is_not_counted_says_why(name):
    with pytest.raises(ValueError, match=rf"^architectures = '{name}': not supported, since .* not counted$"):
        read_config({"architectures": [name], "torch_dtype": "bfloat16"})
    assert name not in ARCHITECTURES


def changed(name: str, fields: dict[str, Any], text: bool = False) -> Model:
    found = config(name)
    return read_config(found | ({"text_config": found["text_config"] | fields} if text else fields))


def test_layers_of_llama_4():
    """Scout: 16 experts in all layers; Maverick: 128 in every other one. Three layers of four in chunks of 8192."""
    scout = read_config(config("Llama-4-Scout-17B-16E-Instruct"))
    maverick = read_config(config("Llama-4-Maverick-17B-128E-Instruct"))
    assert (scout.window, scout.window_layers, scout.nope_layers, scout.chunked) == (8192, 36, 12, True)
    assert (scout.moe.dense_layers, maverick.moe.dense_layers) == (0, 24)
    name = "Llama-4-Scout-17B-16E-Instruct"
    assert changed(name, {"moe_layers": [1, 3]}, text=True).moe.dense_layers == 46
    rope = changed(name, {"no_rope_layers": [1] * 47 + [0]}, text=True)
    assert (rope.window_layers, rope.nope_layers) == (47, 1)
    types = ["full_attention"] * 47 + ["chunked_attention"]
    assert changed(name, {"layer_types": types}, text=True).window_layers == 1
    assert changed(name, {"attention_chunk_size": None}, text=True).chunked is False


def test_windows_of_olmo_3_and_command_a():
    assert (read_config(config("OLMo-3-7B")).window, read_config(config("OLMo-3-7B")).window_layers) == (4096, 24)
    command = {"architectures": ["Cohere2ForCausalLM"], "sliding_window": 4096}
    small = changed("aya-23-8B", command)
    assert (small.params, small.window_layers, small.nope_layers) == (8_028_033_024, 24, 8)
    assert changed("aya-23-8B", command | {"sliding_window": None}).nope_layers == 0


def test_a_norm_of_queries_and_keys_in_command_r_plus():
    plain, normed = read_config(config("c4ai-command-r-v01")), changed("c4ai-command-r-v01", {"use_qk_norm": True})
    assert normed.params - plain.params == 40 * (64 + 64) * 128


def test_rope_turns_a_part_of_a_head_or_leaves_layers_out():
    assert read_config(config("GLM-4.6")).rope_dim == read_config(config("glm-4-9b")).rope_dim == 64
    assert read_config(config("MiniMax-M2.5")).rope_dim == 64
    assert read_config(config("SmolLM3-3B")).nope_layers == 9
    assert changed("phi-4", {"partial_rotary_factor": 0.75}).rope_dim == 96


def test_qwen_vl_names_its_language_model_in_either_place():
    flat = config("Qwen2.5-VL-7B-Instruct")
    outside = ("architectures", "tie_word_embeddings", "dtype", "vision_config")
    nested = {key: flat.pop(key) for key in list(flat) if key not in outside}
    assert replace(read_config(flat | {"text_config": nested}), source="") == replace(
        read_config(config("Qwen2.5-VL-7B-Instruct")), source="")
    tied = read_config(flat | {"text_config": nested, "tie_word_embeddings": True})
    assert tied.params == 7_615_616_512 - 3584 * 152064


def test_mistral_3_is_tied_only_where_a_field_says_so():
    name = "Mistral-Small-3.2-24B"
    assert changed(name, {"tie_word_embeddings": True}).tied_embeddings is True
    both = config(name) | {"tie_word_embeddings": True}
    text = both["text_config"] | {"tie_word_embeddings": False}
    assert read_config(both | {"text_config": text}).tied_embeddings is False


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("MiniMax-M2.5", {"use_qk_norm": False}, r"^use_qk_norm = False: only True is supported"),
        ("MiniMax-M2.5", {"qk_norm_type": "per_head"}, r"^qk_norm_type = 'per_head': only 'per_layer' is supported"),
        ("MiniMax-M2.5", {"shared_intermediate_size": 1536}, r"^shared_intermediate_size = 1536: only 0 is supported"),
        ("MiniMax-M2.5", {"attn_type_list": [1, 0]}, r"^attn_type_list: names linear attention"),
        ("internlm2-7b", {"bias": True}, r"^bias = True: only False is supported"),
        ("glm-4-9b", {"rmsnorm": False}, r"^rmsnorm = False: only True is supported"),
        ("glm-4-9b", {"kv_channels": None}, r"^kv_channels: missing from the config$"),
        ("SmolLM3-3B", {"no_rope_layers": [1]}, r"^no_rope_layers = \[1\]: must hold 0 or 1 for each of 36 layers$"),
        ("GLM-4.6", {"partial_rotary_factor": 2}, r"^partial_rotary_factor = 2: must be a number above 0"),
        ("GLM-5", {"indexer_types": ["full", "shared"]}, r"^indexer_types: layers that share an index are not counted"),
        ("Qwen3-Next-80B-A3B-Instruct", {"attention_bias": True}, r"^attention_bias = True: only False is supported"),
        ("Qwen3-Next-80B-A3B-Instruct", {"attn_output_gate": False}, r"^attn_output_gate = False: only True"),
        ("Qwen3-Next-80B-A3B-Instruct", {"mamba_ssm_dtype": "int8"}, r"^mamba_ssm_dtype = 'int8': must be"),
        ("NVIDIA-Nemotron-Nano-9B-v2", {"use_bias": True}, r"^use_bias = True: only False is supported"),
        ("NVIDIA-Nemotron-Nano-9B-v2", {"hybrid_override_pattern": "M*X"}, r"^hybrid_override_pattern: must hold"),
        ("NVIDIA-Nemotron-Nano-9B-v2", {"hybrid_override_pattern": "M*", "num_hidden_layers": 2},
         r"^hybrid_override_pattern: without"),
        ("NVIDIA-Nemotron-Nano-9B-v2", {"num_hidden_layers": 55}, r"^num_hidden_layers = 55: but the pattern has 56"),
        ("NVIDIA-Nemotron-Nano-9B-v2", {"hybrid_override_pattern": None}, r"^hybrid_override_pattern: must hold"),
        ("NVIDIA-Nemotron-Nano-9B-v2", {"head_dim": None}, r"^head_dim: missing from the config$"),
        ("granite-4.0-h-small", {"layer_types": None}, r"^layer_types: missing from the config$"),
        ("granite-4.0-h-small", {"mamba_proj_bias": True}, r"^mamba_proj_bias = True: only False is supported"),
        ("gemma-4-E2B", {"text_config": None}, r"^text_config: missing from the config$"),
        ("Kimi-K2.5", {"text_config": None}, r"^text_config: missing from the config$"),
    ],
)
def test_what_would_not_be_counted_is_refused(name, fields, message):
    with pytest.raises(ValueError, match=message):
        changed(name, fields)


def test_what_gemma_4_leaves_to_its_class():
    whole = config("gemma-4-31B")
    left = {"layer_types", "enable_moe_block", "tie_word_embeddings", "use_double_wide_mlp", "attention_bias"}
    text = {key: value for key, value in whole["text_config"].items() if key not in left}
    model = read_config({"architectures": whole["architectures"], "dtype": "bfloat16", "text_config": text})
    unlike = {"name": "", "left_out": ()}
    assert replace(model, **unlike) == replace(read_config(whole), **unlike)


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"attention_bias": True}, r"^attention_bias = True: only False is supported"),
     ({"sliding_window": None, "layer_types": None}, r"^sliding_window = None: a model without a window"),
     ({"layer_types": None}, r"^layer_types: missing from the config$")],
)
def test_gemma_4_refuses(fields, message):
    with pytest.raises(ValueError, match=message):
        changed("gemma-4-E2B", fields, text=True)


def test_llama_4_with_biases_is_refused():
    with pytest.raises(ValueError, match=r"^attention_bias = True: only False is supported"):
        changed("Llama-4-Scout-17B-16E-Instruct", {"attention_bias": True}, text=True)


def test_layers_of_qwen3_next_with_and_without_experts():
    """Where a layer has no experts its width is intermediate_size, which the configs give even if none is so."""
    name = "Qwen3-Next-80B-A3B-Instruct"
    model = read_config(config(name))
    assert (model.attention_layers, model.mixer.layers, model.rope_dim) == (12, 36, 64)
    dense = changed(name, {"mlp_only_layers": [0, 1]})
    assert (dense.moe.dense_layers, dense.intermediate) == (2, 5120)
    assert changed(name, {"full_attention_interval": 2}).mixer.layers == 24
    rope = {"rope_parameters": {"partial_rotary_factor": 0.5}}
    assert changed("Qwen3.5-27B", rope, text=True).rope_dim == 128


def test_layers_of_nemotron_by_letter_and_by_name():
    name, kinds = "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", ["mamba", "attention", "moe", "mlp", "mamba", "moe"]
    letters = {"hybrid_override_pattern": "M*E-ME", "num_hidden_layers": 6}
    model = changed(name, letters)
    assert (model.layers, model.mixer.layers, model.attention_layers, model.nope_layers) == (6, 2, 1, 1)
    assert (model.ffn_layers, model.moe.dense_layers, model.intermediate) == (3, 1, 1856)
    named = {"layers_block_type": kinds, "hybrid_override_pattern": None, "num_hidden_layers": None}
    assert changed(name, named) == model


def test_granite_4_without_experts_or_mamba():
    """Its small ones: the shared expert alone is the feed-forward network, and layers may all be attention."""
    name, attention = "granite-4.0-h-small", {"layer_types": ["attention"] * 40, "num_local_experts": 0}
    plain = changed(name, attention | {"position_embedding_type": "rope"})
    assert (plain.moe, plain.mixer, plain.intermediate, plain.nope_layers) == (None, None, 1536, 0)
    assert changed(name, attention).nope_layers == 40
    assert changed(name, {"mamba_d_head": "auto", "mamba_expand": 2}).params == 32_207_337_984
    assert changed(name, {"mamba_n_groups": None, "mamba_expand": None}).params == 32_207_337_984
