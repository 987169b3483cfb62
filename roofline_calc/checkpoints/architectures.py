"""What the fields of each supported architecture mean: a function of its config gives the shapes of `Model`.

An architecture is supported once its every parameter is accounted for; any other is refused. A field is read by the
function of the architecture it belongs to, so that a key which means something else elsewhere is never guessed at. A
field may be left out only where the architecture's own class has a default that says "none of it", or where published
configs leave it out and their published parameter counts agree with the default.
"""

from collections.abc import Callable
from typing import Any

from . import dense, hybrids, moe
from .fields import Fields

# Refused although others of their families are known: what in them is not counted.
NOT_COUNTED = {
    "Gemma3nForConditionalGeneration": "its parallel streams (AltUp) and low-rank residuals (LAuReL) are not counted",
    "DeciLMForCausalLM": "its layers have sizes of their own, each another, which is not counted",
    "MllamaForConditionalGeneration": "the layers in which text attends to images are not counted",
    "JambaForCausalLM": "its layers of the first Mamba are not counted",
    "KimiLinearForCausalLM": "its linear attention (KDA) is not counted",
    "MiniMaxM1ForCausalLM": "its linear attention (lightning attention) is not counted",
    "MiniMaxText01ForCausalLM": "its linear attention (lightning attention) is not counted",
}
ARCHITECTURES: dict[str, Callable[[Fields], dict[str, Any]]] = {
    "LlamaForCausalLM": dense.llama,
    "Llama4ForConditionalGeneration": moe.llama4,
    "MistralForCausalLM": dense.mistral,
    "Mistral3ForConditionalGeneration": dense.mistral3,
    "MixtralForCausalLM": moe.mixtral,
    "Qwen2ForCausalLM": dense.qwen2,
    "Qwen2MoeForCausalLM": moe.qwen2_moe,
    "Qwen2_5_VLForConditionalGeneration": dense.qwen2_vl,
    "Qwen3ForCausalLM": dense.qwen3,
    "Qwen3MoeForCausalLM": moe.qwen3_moe,
    "Qwen3VLForConditionalGeneration": dense.qwen3_vl,
    "Qwen3VLMoeForConditionalGeneration": moe.qwen3_vl_moe,
    "Qwen3NextForCausalLM": hybrids.qwen3_next,
    "Qwen3_5ForConditionalGeneration": hybrids.qwen3_5,
    "Qwen3_5MoeForConditionalGeneration": hybrids.qwen3_5_moe,
    "GemmaForCausalLM": dense.gemma,
    "Gemma2ForCausalLM": dense.gemma2,
    "Gemma3ForCausalLM": dense.gemma3,
    "Gemma3ForConditionalGeneration": dense.gemma3_multimodal,
    "Gemma4ForConditionalGeneration": hybrids.gemma4,
    "Phi3ForCausalLM": dense.phi3,
    "PhiMoEForCausalLM": moe.phimoe,
    "DeepseekV2ForCausalLM": moe.deepseek,
    "DeepseekV3ForCausalLM": moe.deepseek_v3,
    "DeepseekV32ForCausalLM": moe.deepseek_v32,
    "KimiK25ForConditionalGeneration": moe.kimi_k25,
    "ChatGLMModel": dense.chatglm,
    "GlmForCausalLM": dense.glm,
    "Glm4ForCausalLM": dense.glm4,
    "Glm4MoeForCausalLM": moe.glm4_moe,
    "GlmMoeDsaForCausalLM": moe.deepseek_v32,
    "MiniMaxM2ForCausalLM": moe.minimax_m2,
    "GraniteForCausalLM": dense.llama,
    "GraniteMoeHybridForCausalLM": hybrids.granite_hybrid,
    "NemotronHForCausalLM": hybrids.nemotron_h,
    "SmolLM3ForCausalLM": dense.smollm3,
    "Olmo2ForCausalLM": dense.olmo2,
    "Olmo3ForCausalLM": dense.olmo3,
    "CohereForCausalLM": dense.cohere,
    "Cohere2ForCausalLM": dense.cohere2,
    "InternLM2ForCausalLM": dense.internlm2,
    "GptOssForCausalLM": moe.gpt_oss,
}
