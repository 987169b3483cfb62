"""What a checkpoint has that is not counted: a vision or audio tower, layers that predict further tokens."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..model import Model

# Whose prediction layers are as `prediction_layer` counts them (vLLM's deepseek_mtp.py, qwen3_next_mtp.py): published
# totals come out so. Some have an embedding and lm_head of their own: of GLM 4.5 and 4.7, but not 4.6 and 5.
OWN_VOCABULARY = ("DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM")
PERHAPS_OWN = ("Glm4MoeForCausalLM", "GlmMoeDsaForCausalLM")
SHARED = ("Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration")
TOWERS = {"vision_config": "vision tower", "audio_config": "audio tower"}


def left_out(model: Model, architecture: str, config: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence for each part of a checkpoint that no count includes, with its size where it follows from the config.

    Raises:
        ValueError: num_nextn_predict_layers is not a whole number.
    """
    sentences = [
        f"{part} ({key}), of a size that no formula here gives" for key, part in TOWERS.items() if config.get(key)
    ]
    if architecture.endswith("ForConditionalGeneration") and not sentences:
        sentences.append("all that is not its language model, of a size that no formula here gives")
    text = config.get("text_config")
    text = text if isinstance(text, Mapping) else config
    key = next((key for key in ("num_nextn_predict_layers", "mtp_num_hidden_layers") if text.get(key)), None)
    if key:
        number = text[key]
        if type(number) is not int or number < 0:
            raise ValueError(f"{key} = {number!r}: must be a whole number")
        plural = "layer" if number == 1 else "layers"
        sentences.append(f"{number} multi-token-prediction {plural} ({key}){_size(model, architecture, number)}")
    return tuple(sentences)


def _size(model: Model, architecture: str, number: int) -> str:
    if architecture not in (*OWN_VOCABULARY, *PERHAPS_OWN, *SHARED):
        return ", of a size that no formula here gives"
    one, own = prediction_layer(model), 2 * model.vocab * model.hidden
    size = f": {number * (one + own * (architecture in OWN_VOCABULARY)):,} parameters"
    more = f", {number * own:,} more where it has an embedding and lm_head of its own"
    return size + (more if architecture in PERHAPS_OWN else "")


def prediction_layer(model: Model) -> int:
    """Parameters of one multi-token-prediction layer, its vocabulary left out.

    One more layer, with attention and experts; a projection of the token's embedding and the hidden state, side by
    side; three norms, of the two and of the output.
    """
    layer = replace(model, layers=model.layers + 1).params - model.params
    return layer + 2 * model.hidden * model.hidden + 3 * model.hidden
