"""The catalogue: totals as published, peaks that are dense, a source for each figure, files of one's own."""

import re

import pytest

from roofline_calc import ACCELERATORS, MODELS, QWEN, RTX_4090, kernel_by_kernel, read_accelerators, read_models

# Totals as published: see the `source` of each entry in models.toml.
PUBLISHED = {
    "qwen2.5-7b": 7_615_616_512,
    "qwen2.5-0.5b": 494_032_768,
    "qwen2.5-14b": 14_770_033_664,
    "qwen2.5-72b": 72_706_203_648,
    "qwen3-8b": 8_190_735_360,
    "qwen3-30b-a3b": 30_532_122_624,
    "llama-2-7b": 6_738_415_616,
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.1-70b": 70_553_706_496,
    "llama-3.2-1b": 1_235_814_400,
    "mistral-7b": 7_248_023_552,
    "mixtral-8x7b": 46_702_792_704,
    "gemma-2-9b": 9_241_705_984,
    "gemma-3-1b": 999_885_952,
    "phi-3-mini": 3_821_079_552,
    "deepseek-v2-lite": 15_706_484_224,
    "deepseek-v3": 671_026_419_200,
    "gpt-oss-20b": 20_914_757_184,
    "gpt-oss-120b": 116_829_156_672,
    "qwen3-4b": 4_022_468_096,
    "qwen3-32b": 32_762_123_264,
    "qwen3-235b-a22b": 235_093_634_560,
    "qwen3-coder-480b-a35b": 480_154_875_392,
    "qwen3-next-80b-a3b": 79_674_391_296,
    "qwen3.5-27b": 26_895_998_464,
    "qwen3.5-35b-a3b": 34_660_610_688,
    "qwen3.5-397b-a17b": 396_346_350_336,
    "llama-3.3-70b": 70_553_706_496,
    "llama-4-scout": 107_769_861_120,
    "llama-4-maverick": 400_711_848_960,
    "mistral-small-3.2": 23_572_403_200,
    "gemma-3-12b": 11_766_034_176,
    "gemma-3-27b": 27_009_346_304,
    "gemma-4-e4b": 7_463_013_418,
    "gemma-4-26b-a4b": 25_233_141_790,
    "gemma-4-31b": 30_697_345_340,
    "phi-4": 14_659_507_200,
    "deepseek-v3.2": 671_877_944_064,
    "kimi-k2": 1_026_408_232_448,
    "glm-4.5-air": 106_852_251_264,
    "glm-4.6": 352_797_829_024,
    "glm-5": 743_911_218_432,
    "minimax-m2": 228_689_764_864,
    "nemotron-3-nano": 31_577_940_288,
    "nemotron-3-super": 120_668_707_840,
    "olmo-3-7b": 7_298_011_136,
    "olmo-3.1-32b": 32_233_522_176,
    "smollm3-3b": 3_075_098_624,
    "granite-3.3-8b": 8_170_864_640,
    "granite-4.0-h-small": 32_207_337_984,
}


@pytest.mark.parametrize("name", MODELS)
def test_parameters_are_the_published_total(name):
    assert MODELS[name].params == PUBLISHED[name]
    assert f"{PUBLISHED[name]:,} parameters" in MODELS[name].source


def test_there_are_enough_models_and_accelerators():
    assert len(MODELS) >= 12
    assert len(ACCELERATORS) >= 45


@pytest.mark.parametrize(
    ("name", "active"),
    [("mixtral-8x7b", 12_879_925_248), ("qwen3-30b-a3b", 3_353_032_704), ("deepseek-v3", 37_552_297_472)],
)
def test_active_parameters(name, active):
    """What model cards call active counts the input embedding too: 12.9, 3.3 and 37 billion."""
    model = MODELS[name]
    assert model.params_read(1) + model.vocab * model.hidden == pytest.approx(active, rel=2e-4)


@pytest.mark.parametrize(
    ("name", "gigabytes"), [("gpt-oss-20b", 13.76), ("gpt-oss-120b", 65.25), ("deepseek-v3", 673.2)]
)
def test_checkpoints_stored_in_fewer_bits(name, gigabytes):
    """MXFP4 experts and FP8 matrices, everything else in BF16."""
    assert MODELS[name].weight_bytes() / 1e9 == pytest.approx(gigabytes, abs=0.05)


@pytest.mark.parametrize(
    ("name", "ridge"),
    [("rtx-4090", 163.9), ("a100-80gb-sxm", 153.0), ("h100-sxm", 295.3), ("h200", 206.1), ("l40s", 419.0),
     ("l4", 403.3), ("rtx-3090", 75.9)],
)
def test_ridge_points_of_the_lesson(name, ridge):
    assert ACCELERATORS[name].ridge() == pytest.approx(ridge, abs=0.05)


def test_a_card_without_bf16_says_so():
    with pytest.raises(ValueError, match=r"^dtype = 'bf16': must be 'fp16' or 'int8' or 'fp32'$"):
        ACCELERATORS["t4"].ridge()


def test_a_cards_own_time_floor():
    costs = QWEN.decode_kernels(256, 2048).values()
    assert RTX_4090.kernel_by_kernel(costs) == kernel_by_kernel(costs, 165.2e12, 1008e9)
    assert RTX_4090.kernel_by_kernel(costs, "fp8") == kernel_by_kernel(costs, 330.3e12, 1008e9)


def test_named_entries():
    assert QWEN is MODELS["qwen2.5-7b"]
    assert RTX_4090 is ACCELERATORS["rtx-4090"]
    assert RTX_4090.last_level_cache == 72 * 2**20
    assert ACCELERATORS["tpu-v5e"].last_level_cache is None


CARD = """
[mine]
name = "My card"
bandwidth = 1e12
memory = 1_000
peak = { bf16 = 1e14 }
source = "me"
"""


def write(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_accelerators_of_ones_own(tmp_path):
    card = read_accelerators(write(tmp_path, CARD))["mine"]
    assert (card.name, card.ridge(), card.last_level_cache, card.link, card.note) == ("My card", 100, None, None, "")
    assert card.attainable(7) == 7e12


def test_models_of_ones_own(tmp_path):
    text = """
    [small]
    name = "Small"
    hidden = 64
    layers = 2
    n_q = 4
    n_kv = 2
    head_dim = 16
    intermediate = 96
    vocab = 100
    tied_embeddings = true
    qkv_bias = false
    bytes_per_element = 2
    source = "me"
    moe = { experts = 4, top_k = 2, intermediate = 8 }
    mla = { kv_rank = 8, nope = 4, rope = 2, v = 4 }
    """
    model = read_models(write(tmp_path, text))["small"]
    assert (model.moe.experts, model.mla.q_rank) == (4, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mine", "not a TOML file"),
        ("mine = 1", r"mine = 1: must be a table, \[mine\]"),
        (CARD.replace("memory = 1_000", ""), r"\[mine\]: missing 1 required keyword-only argument: 'memory'"),
        (CARD + "cores = 3", r"\[mine\]: got an unexpected keyword argument 'cores'"),
        (CARD.replace("1e12", "-1"), r"\[mine\]: bandwidth = -1: must be positive and finite"),
        (CARD.replace("1e12", '"fast"'), r"\[mine\]: "),
        (CARD.replace("1e14", "0"), r"\[mine\]: peak.bf16 = 0: must be positive and finite"),
        (CARD.replace("1_000", "1.5"), r"\[mine\]: memory = 1.5: must be a positive whole number"),
        (CARD + "link = 0", r"\[mine\]: link = 0: must be positive and finite"),
        (CARD + "last_level_cache = 0", r"\[mine\]: last_level_cache = 0: must be a positive whole number"),
    ],
)
def test_a_file_with_a_fault_is_named_with_the_fault(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=re.escape(f"{path}: ") + message):
        read_accelerators(path)


def test_a_fault_in_a_nested_table_is_named_too(tmp_path):
    path = write(tmp_path, "[m]\nmoe = { experts = 4, top_k = 5, intermediate = 8 }")
    with pytest.raises(ValueError, match=r"\[m\]: top_k = 5: must be at most experts \(4\)"):
        read_models(path)
