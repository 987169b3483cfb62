"""What the command line makes of stored weights: formats and bits by name, lm_head and embedding, checkpoints' own."""

import json
import shutil
from pathlib import Path

import pytest

from roofline_calc import MODELS, QWEN, read_config
from roofline_calc.__main__ import main
from roofline_calc.checkpoints.formats import stored_as

FOLDER = Path(__file__).parent / "configs"


@pytest.fixture
def ask(capsys):
    """Run a command line in this process: its data."""

    def run(line: str):
        assert main([*line.split(), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def says(capsys):
    """Run a command line in this process: its text, or its complaint."""

    def run(line: str) -> str:
        status = main(line.split())
        out, err = capsys.readouterr()
        assert (status, bool(out), bool(err)) in ((0, True, False), (2, False, True))
        return out + err

    return run


@pytest.mark.parametrize(
    ("model", "resident", "read"),
    [("qwen2.5-7b", 4.284e9, 3.978e9), ("qwen2.5-0.5b", 0.278e9, 0.278e9)],
)
def test_so_many_bits_everywhere(ask, model, resident, read):
    """At 4.5 bits Qwen2.5-7B reads 3.98 GB, not 4.76 with lm_head at 16, and 0.5B 0.278, not 0.474 (E7)."""
    data = ask(f"ops --model {model} --weights 4.5 --lm-head 4.5 --embedding 4.5")
    assert data["weights_resident"] == pytest.approx(resident, rel=1e-3)
    assert data["compulsory"]["weights"] == pytest.approx(read, rel=1e-3)
    matrices = ask(f"ops --model {model} --weights 4.5")["compulsory"]["weights"]
    assert matrices - data["compulsory"]["weights"] == MODELS[model].vocab * MODELS[model].hidden * (2 - 0.5625)


def test_so_many_bits_of_a_model_that_is_mostly_vocabulary(ask, tmp_path):
    """Gemma 3 270M reads 0.151 GB at 4.5 bits, not 0.392 (E7)."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({
        "architectures": ["Gemma3ForCausalLM"], "hidden_size": 640, "num_hidden_layers": 18, "head_dim": 256,
        "intermediate_size": 2048, "num_attention_heads": 4, "num_key_value_heads": 1, "vocab_size": 262144,
        "sliding_window": 512, "torch_dtype": "bfloat16",
    }), encoding="utf-8")
    assert read_config(path).params == 268_098_176
    data = ask(f"ops --model {path} --weights 4.5 --embedding 4.5")
    assert data["compulsory"]["weights"] == pytest.approx(0.151e9, rel=2e-3)
    assert ask(f"ops --model {path} --weights 4.5")["compulsory"]["weights"] == pytest.approx(0.392e9, rel=2e-3)


def test_one_matrix_for_both(ask, says):
    tied = MODELS["qwen2.5-0.5b"]
    for option in ("--lm-head q6_k", "--embedding q6_k", "--lm-head q6_k --embedding q6_k"):
        data = ask(f"ops --model qwen2.5-0.5b {option}")
        assert data["weights_resident"] == tied.weight_bytes() - tied.vocab * tied.hidden * (2 - 210 / 256)
    assert "one matrix for both" in says("ops --model qwen2.5-0.5b --lm-head q6_k --embedding q8_0")
    untied = ask("ops --embedding 8")
    assert untied["weights_resident"] == QWEN.weight_bytes() - QWEN.vocab * QWEN.hidden
    assert untied["compulsory"]["weights"] == QWEN.weight_bytes_read()


def test_a_mixed_format(ask, says):
    """As llama.cpp multiplies it, in INT8 where the card can; in the data type that is asked for, where one is."""
    data = ask("ops --weights q4_k_m")
    expected = stored_as("q4_k_m", QWEN)
    assert {name: each["width"] for name, each in data["modules"].items()} == {
        name: each.width for name, each in expected.items()
    }
    assert data["modules"]["v_proj"]["multiplies"] == "int8"
    assert "v_proj and down_proj 5.531 bits (multiplied in int8)" in says("ops --weights q4_k_m")
    for line in ("ops --weights q4_k_m --dtype bf16", "ops --weights q4_k_m --hardware m1-max"):
        assert {each["multiplies"] for each in ask(line)["modules"].values()} == {None}
    # A checkpoint quantised otherwise is as if it were not.
    assert ask("ops --model gpt-oss-20b --weights q8_0")["modules"]["layers"]["width"] == 34 / 32
    # Blocks are those of the whole model, however it is split: 18944 / 4 is no multiple of 256.
    assert ask("ops --weights q4_k_s --tp 4")["modules"] == ask("ops --weights q4_k_s")["modules"]


def test_a_format_s_head_may_be_given(ask):
    data = ask("ops --weights mlx-4bit --lm-head bf16")
    assert data["modules"]["lm_head"] == {"width": 2, "multiplies": None}
    assert data["modules"]["embedding"] == {"width": 0.5625, "multiplies": None}


def test_llama_2_7b_q4_0_on_a_4090_is_not_beaten(ask):
    """llama-bench measures 14,771 tokens/s of pp512: more than the card can multiply in FP16, less than in INT8."""
    line = "ops --model llama-2-7b --weights q4_0 --phase prefill --context 512 --hardware rtx-4090"
    measured = 14771
    assert ask(f"{line} --dtype fp16")["tokens_per_second"]["lower_bound"] < measured
    assert ask(line)["tokens_per_second"]["lower_bound"] > measured


def test_unknown_formats_name_the_nearest(says):
    assert "did you mean 'q4_k_s'?" in says("ops --weights q4_k_x")
    assert "did you mean 'mlx-4bit'?" in says("ops --weights mlx-4bits")
    assert "bits per weight = 0.5: must be from 1 to 64" in says("ops --weights 0.5")
    assert "argument --lm-head: bits per weight = 99" in says("ops --lm-head 99")
    assert "is none of" in says("ops --embedding q4_k_m")  # a format of a whole file is no width of one matrix


def test_a_folder_with_a_sidecar(ask, tmp_path):
    """Llama 3.1 70B in FP8 on an H100: 72.66 GB, and at most 373 tokens/s where 185 were said (B1)."""
    for source, name in (("", "config"), (".hf_quant_config", "hf_quant_config")):
        shutil.copy(FOLDER / f"Llama-3.1-70B-Instruct-FP8{source}.json", tmp_path / f"{name}.json")
    data = ask(f"ops --model {tmp_path} --hardware h100-sxm --batch 8 --context 2048")
    assert data["weights_resident"] == pytest.approx(72.66e9, rel=1e-4)
    assert data["modules"] == {"layers": {"width": 1, "multiplies": "fp8"}}
    assert data["bytes_per_element"]["kv"] == 1
    assert data["tokens_per_second"]["lower_bound"] > 300
    assert ask(f"ops --model {tmp_path} --weights bf16")["weights_resident"] == pytest.approx(141.1e9, rel=1e-4)


def test_a_quantisation_that_cannot_be_counted_has_a_cure(ask, says, tmp_path):
    config = json.loads((FOLDER / "mlx-4bit.json").read_text(encoding="utf-8"))
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config | {"quantization": None, "quantization_config": {"quant_method": "hqq"}}))
    assert "quant_method = 'hqq': cannot be counted" in says(f"ops --model {path}")
    assert ask(f"ops --model {path} --weights 4.5")["bytes_per_element"]["weights"] == 0.5625


def test_other_files_say_what_they_are(says, tmp_path):
    assert "a GGUF file" in says(f"ops --model {_gguf(tmp_path)}")
    assert "an adapter" in says(f"ops --model {FOLDER / 'lora-adapter.json'}")
    assert "nowhere.gguf: No such file or directory" in says("ops --model nowhere.gguf")


def _gguf(folder: Path) -> Path:
    path = folder / "model.Q4_K_M.gguf"
    path.write_bytes(b"GGUF")
    return path


def test_what_is_left_out_is_said(ask, says):
    path = FOLDER / "DeepSeek-V3.json"
    (sentence,) = read_config(path).left_out
    assert sentence == "1 multi-token-prediction layer (num_nextn_predict_layers): 13,463,426,304 parameters"
    assert ask(f"ops --model {path}")["left_out"] == [sentence]
    assert f"left out          {sentence}" in says(f"ops --model {path}")
    assert ask("ops")["left_out"] == []
    assert {row["name"]: row["left_out"] for row in ask("models")}["deepseek-v3"] == [sentence]
