"""Formats of weights by name: GGUF's mixed types against published sizes of files, MLX, and bits per weight."""

from dataclasses import replace

import pytest

from roofline_calc import MODELS, Model
from roofline_calc.checkpoints.formats import BLOCKS, FORMATS, bytes_of, stored_as
from roofline_calc.precision import Stored

GIB = 2**30


def gguf_bytes(model: Model, name: str) -> float:
    """Bytes of all tensors in a file, whose norms and biases are FP32."""
    vectors = model.params - sum(line.K * line.N * line.layers for line in model.linear_layers().values())
    vectors -= model.vocab * model.hidden * (1 if model.tied_embeddings else 2)
    return replace(model, stored=stored_as(name, model)).weight_bytes() + 2 * vectors


# Bits per weight of Llama-3.1-8B in the table of llama.cpp's tools/quantize/README.md at 311c2c9f.
PUBLISHED = {
    "q2_k": 3.1593, "q2_k_s": 2.9697, "q3_k_s": 3.6429, "q3_k_l": 4.2979, "q4_k_s": 4.6672, "q4_k_m": 4.8944,
    "q5_k_s": 5.5704, "q5_k_m": 5.7036, "q6_k": 6.5633, "q8_0": 8.5008, "iq4_nl": 4.6818, "iq4_xs": 4.4597,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_bits_per_weight(name):
    model = MODELS["llama-3.1-8b"]
    assert round(8 * gguf_bytes(model, name) / model.params, 4) == PUBLISHED[name]


def test_published_bits_per_weight_of_an_unquantised_file():
    model = MODELS["llama-3.1-8b"]
    vectors = 4096 * (2 * 32 + 1)
    assert round(8 * (model.weight_bytes() + 2 * vectors) / model.params, 4) == 16.0005


@pytest.mark.parametrize(
    ("model", "name", "gib"),
    [("llama-2-7b", "q4_0", 3.56), ("llama-3.1-8b", "q4_k_m", 4.58), ("llama-3.1-70b", "q4_k_m", 39.59)],
)
def test_published_sizes_of_files(model, name, gib):
    """Those of the files whose speeds are measured: Llama 2 7B, and Llama 3, of 3.1's shapes."""
    assert round(gguf_bytes(MODELS[model], name) / GIB, 2) == gib


# From an older version of that README, for Llama-2-7B, of types whose rules did not change since.
@pytest.mark.parametrize(
    ("name", "bits"),
    [("q3_k_m", 3.91), ("q3_k_l", 4.27), ("q4_k_s", 4.58), ("q4_k_m", 4.84), ("q5_k_s", 5.52), ("q5_k_m", 5.68),
     ("q6_k", 6.56)],
)
def test_published_bits_of_an_older_model(name, bits):
    model = MODELS["llama-2-7b"]
    assert 8 * gguf_bytes(model, name) / model.params == pytest.approx(bits, abs=0.0051)


def stored(model: str, name: str) -> dict[str, Stored]:
    return stored_as(name, MODELS[model])


def of(kind: str) -> Stored:
    weights, size = BLOCKS[kind]
    return Stored(size / weights, "int8")


def test_rows_that_are_no_whole_blocks():
    """Qwen2.5-0.5B is 896 wide, three and a half blocks of 256; its down_proj reads 4,864, nineteen."""
    half = stored("qwen2.5-0.5b", "q4_k_s")
    assert half["layers"] == of("Q5_0")
    assert half["lm_head"] == half["embedding"] == of("Q8_0")
    assert half["down_proj"].width == pytest.approx((3 * 176 / 256 + 21 * 144 / 256) / 24)
    assert half["v_proj"].width == pytest.approx((4 * 24 / 32 + 20 * 22 / 32) / 24)
    assert stored("qwen2.5-0.5b", "q4_0")["lm_head"] == of("Q8_0")
    narrow = replace(MODELS["qwen2.5-0.5b"], hidden=900)
    assert narrow.linear_layers()["k_proj"].K % 32
    assert replace(narrow, stored=stored_as("q4_0", narrow)).precision.stored("k_proj") == Stored(2)


def test_which_layers_have_more_bits():
    """Of 30 layers the first 3, the last 4 and every third between, from the sixth on: 14. Of 32 it would be half."""
    thirty = replace(MODELS["llama-3.1-8b"], layers=30)
    wide = [0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 26, 27, 28, 29]
    for name, narrow in (("q4_k_m", 144), ("q5_k_m", 176)):
        mixed = stored_as(name, thirty)
        expected = (len(wide) * 210 + (30 - len(wide)) * narrow) / 30 / 256
        assert mixed["v_proj"].width == mixed["down_proj"].width == pytest.approx(expected)
    first = stored_as("q3_k_m", thirty)  # v_proj: two layers in Q5_K; down_proj: 30 // 16 layers
    assert first["v_proj"].width == pytest.approx((2 * 176 + 28 * 144) / 30 / 256)
    assert first["down_proj"].width == pytest.approx((1 * 176 + 29 * 144) / 30 / 256)


def test_a_mixture_of_eight_experts():
    """Mixtral's k and v in 8 bits, o_proj in Q5_K, routers as they were in FP32."""
    mixed = replace(MODELS["mixtral-8x7b"], stored=stored("mixtral-8x7b", "q4_k_m")).precision
    assert mixed.stored("k_proj") == mixed.stored("v_proj") == of("Q8_0")
    assert mixed.stored("o_proj") == of("Q5_K")
    assert mixed.stored("q_proj") == mixed.stored("expert_up_proj") == of("Q4_K")
    assert mixed.stored("router") == Stored(4)
    # Layers 0 to 3, 28 to 31 and every third from the sixth on have Q6_K: 16 of 32.
    assert mixed.stored("expert_down_proj").width == pytest.approx((16 * 210 + 16 * 144) / 32 / 256)


def test_mlx_quantises_everything():
    every = Stored(0.5625)
    assert stored("qwen2.5-7b", "mlx-4bit") == {"layers": every, "lm_head": every, "embedding": every}
    assert stored("mixtral-8x7b", "mlx-8bit")["router"] == Stored(1.0625)
    model = replace(MODELS["qwen2.5-0.5b"], stored=stored("qwen2.5-0.5b", "mlx-4bit"))
    assert model.weight_bytes_read(1) == pytest.approx(0.278e9, rel=1e-3)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_makes_every_model_smaller(name):
    for key, model in MODELS.items():
        small = replace(model, stored=stored_as(name, model))
        assert small.weight_bytes() < model.params * 1.25, key
        assert small.params == model.params


@pytest.mark.parametrize(
    ("word", "width"),
    [("4.5", 0.5625), ("16", 2), ("1", 0.125), ("64", 8), ("awq", 0.51953125), ("gptq", 0.51953125), ("fp8", 1),
     ("nvfp4", 0.5625), ("mxfp4", 0.53125), ("int4-g64", 0.53125), ("q6_k", 210 / 256), ("q8_0", 34 / 32)],
)
def test_widths_by_name_or_number(word, width):
    assert bytes_of(word) == width


@pytest.mark.parametrize("word", ["0.9", "65", "0", "-4", "inf", "nan"])
def test_bits_that_make_no_sense(word):
    with pytest.raises(ValueError, match=rf"^bits per weight = {word}: must be from 1 to 64$"):
        bytes_of(word)


def test_unknown_names():
    with pytest.raises(ValueError, match=r"^dtype = 'q9': must be "):
        bytes_of("q9")
    with pytest.raises(ValueError, match=r"^format = 'ud-q4_k_xl': must be 'q4_0' or "):
        stored_as("ud-q4_k_xl", MODELS["qwen2.5-7b"])
