"""Files that are taken for a model's config.json: each refused with what it is and what to give instead."""

import json
from pathlib import Path

import pytest

from roofline_calc import read_config

FOLDER = Path(__file__).parent / "configs"
QWEN = json.loads((FOLDER / "gptq-lm-head.json").read_text(encoding="utf-8")) | {"quantization_config": None}
DEEPSEEK = json.loads((FOLDER / "DeepSeek-V3.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (json.loads((FOLDER / "lora-adapter.json").read_text(encoding="utf-8")),
         r"peft_type = 'LORA': an adapter, .*: give the config\.json of meta-llama/Llama-3\.1-8B$"),
        ({"peft_type": "LORA"}, r"peft_type = 'LORA': an adapter, .*: give the config\.json of its base model$"),
        ({"general.architecture": "llama"}, r"general\.architecture: the metadata of a GGUF file: give the"),
        ({"metadata": {}, "weight_map": {}}, r"weight_map: an index of weight files: give the config\.json beside it$"),
        ({"quantization": {"quant_algo": "FP8"}}, r"quantization: an hf_quant_config\.json: give the config\.json"),
        ({"_class_name": "UNet2DConditionModel"}, r"_class_name = 'UNet2DConditionModel': a part of an image pipeline"),
        ({"model_type": "qwen2"}, r"architectures: must name exactly one, .* that its model_type \('qwen2'\) belongs"),
        (QWEN | {"architectures": []}, r"architectures: must name exactly one, and this names none"),
        (QWEN | {"architectures": "Qwen2"}, r"architectures = 'Qwen2': must be a list with one name$"),
        (QWEN | {"architectures": ["A", "B"]},
         r"architectures = \['A', 'B'\]: must name exactly one; keep the one that you run$"),
        (QWEN | {"architectures": ["BertModel"]}, r"architectures = 'BertModel', the class of a model without lm_head"),
        (QWEN | {"architectures": ["XForSequenceClassification"]}, r"architectures = .*, a classifier or reward model"),
        (QWEN | {"architectures": ["WForConditionalGeneration"]}, r"architectures = .*, of several kinds of input"),
        (QWEN | {"architectures": ["GPT2LMHeadModel"]}, r"architectures = 'GPT2LMHeadModel': not supported; known are"),
    ],
)
def test_a_parsed_file_that_is_no_models(config, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        read_config(config)


def test_a_gguf_file(tmp_path):
    for name in ("model.gguf", "config.json"):
        path = tmp_path / name
        path.write_bytes(b"GGUF\x03\x00\x00\x00")
        with pytest.raises(ValueError, match=r": a GGUF file: give the config\.json of the model .* --weights q4_k_m"):
            read_config(path)
    (tmp_path / "config.json").unlink()
    with pytest.raises(ValueError, match=r"model\.gguf: a GGUF file"):  # a folder that holds nothing else
        read_config(tmp_path)


def test_a_folder_with_an_adapter(tmp_path):
    (tmp_path / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA"}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"^peft_type = 'LORA': an adapter"):
        read_config(tmp_path)


def test_an_empty_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        read_config(tmp_path)


@pytest.mark.parametrize("beside", ["modules.json", "config_sentence_transformers.json"])
def test_an_embedding_model(tmp_path, beside):
    """Qwen3-Embedding's config.json names Qwen3ForCausalLM, and no file of it has an lm_head (B9)."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(QWEN), encoding="utf-8")
    assert read_config(path).params == 7_615_616_512
    (tmp_path / beside).write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"config\.json: an embedding model \({beside} of sentence-transformers lies"):
        read_config(path)


def test_what_a_config_has_beside_what_is_counted():
    """DeepSeek-V3's prediction layer: its published total less the 671,026,419,200 parameters of its main model."""
    beside = 684_489_845_504 - 671_026_419_200
    assert read_config(DEEPSEEK).left_out == (
        f"1 multi-token-prediction layer (num_nextn_predict_layers): {beside:,} parameters",
    )
    assert read_config(DEEPSEEK | {"num_nextn_predict_layers": 2}).left_out == (
        f"2 multi-token-prediction layers (num_nextn_predict_layers): {2 * beside:,} parameters",
    )
    assert read_config(DEEPSEEK | {"num_nextn_predict_layers": 0}).left_out == ()
    for name, size in {  # published totals with the layer less those without, vision counted in both
        "GLM-5": 753_864_139_008 - 743_911_218_432, "Qwen3.5-35B-A3B": 35_951_822_704 - 446_571_248 - 34_660_610_688,
        "DeepSeek-V3.2": 685_355_329_792 - 671_877_944_064,
    }.items():
        config = {"dtype": "bfloat16"} | json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        assert f": {size:,} parameters" in read_config(config).left_out[-1]
    towers = read_config(QWEN | {"vision_config": {"depth": 32}, "audio_config": {"layers": 1}}).left_out
    assert [sentence.partition(",")[0] for sentence in towers] == [
        "vision tower (vision_config)", "audio tower (audio_config)"
    ]
    assert read_config(QWEN | {"num_nextn_predict_layers": 1}).left_out == (
        "1 multi-token-prediction layer (num_nextn_predict_layers), of a size that no formula here gives",
    )
    gemma = json.loads((FOLDER / "nested-quantisation.json").read_text(encoding="utf-8"))
    gemma["text_config"]["quantization_config"] = None
    assert read_config(gemma).left_out == ("vision tower (vision_config), of a size that no formula here gives",)
    assert read_config(gemma | {"vision_config": None}).left_out == (
        "all that is not its language model, of a size that no formula here gives",
    )
    with pytest.raises(ValueError, match=r"^num_nextn_predict_layers = 'two': must be a whole number$"):
        read_config(DEEPSEEK | {"num_nextn_predict_layers": "two"})
