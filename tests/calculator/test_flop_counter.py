"""FLOPs agree with PyTorch's own counter for tiny Llama and Qwen2 models written in plain PyTorch.

The counter ignores masks and counts nothing for the CPU's fused attention, so attention runs in the math backend and
is compared without a mask.
"""

from collections import Counter

import pytest

from roofline_calc import Model, attention

torch = pytest.importorskip("torch")
flop_counter = pytest.importorskip("torch.utils.flop_counter")
nn, functional = torch.nn, torch.nn.functional

LLAMA = Model(
    name="tiny Llama", hidden=48, layers=3, n_q=6, n_kv=2, head_dim=8, intermediate=80, vocab=97, tied_embeddings=False,
    qkv_bias=False, bytes_per_element=4, source="made up",
)
QWEN2 = Model(
    name="tiny Qwen2", hidden=40, layers=2, n_q=4, n_kv=4, head_dim=12, intermediate=56, vocab=89, tied_embeddings=True,
    qkv_bias=True, bytes_per_element=4, source="made up",
)


class Attention(nn.Module):
    def __init__(self, shapes: Model) -> None:
        super().__init__()
        self.shapes = shapes
        q, kv = shapes.n_q * shapes.head_dim, shapes.n_kv * shapes.head_dim
        self.q_proj = nn.Linear(shapes.hidden, q, bias=shapes.qkv_bias)
        self.k_proj = nn.Linear(shapes.hidden, kv, bias=shapes.qkv_bias)
        self.v_proj = nn.Linear(shapes.hidden, kv, bias=shapes.qkv_bias)
        self.o_proj = nn.Linear(q, shapes.hidden, bias=False)

    def forward(self, x, past):
        shapes, (batch, L, _) = self.shapes, x.shape
        q, k, v = (
            projection(x).view(batch, L, heads, shapes.head_dim).transpose(1, 2)
            for projection, heads in [(self.q_proj, shapes.n_q), (self.k_proj, shapes.n_kv), (self.v_proj, shapes.n_kv)]
        )
        k, v = torch.cat([past, k], dim=2), torch.cat([past, v], dim=2)
        with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH):
            y = functional.scaled_dot_product_attention(q, k, v, enable_gqa=shapes.n_q != shapes.n_kv)
        return self.o_proj(y.transpose(1, 2).reshape(batch, L, -1))


class Mlp(nn.Module):
    def __init__(self, shapes: Model) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shapes.hidden, shapes.intermediate, bias=False)
        self.up_proj = nn.Linear(shapes.hidden, shapes.intermediate, bias=False)
        self.down_proj = nn.Linear(shapes.intermediate, shapes.hidden, bias=False)

    def forward(self, x):
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, shapes: Model) -> None:
        super().__init__()
        self.input_norm, self.post_norm = nn.RMSNorm(shapes.hidden), nn.RMSNorm(shapes.hidden)
        self.self_attn, self.mlp = Attention(shapes), Mlp(shapes)

    def forward(self, x, past):
        x = x + self.self_attn(self.input_norm(x), past)
        return x + self.mlp(self.post_norm(x))


class Decoder(nn.Module):
    def __init__(self, shapes: Model) -> None:
        super().__init__()
        self.embed = nn.Embedding(shapes.vocab, shapes.hidden)
        self.layers = nn.ModuleList(Layer(shapes) for _ in range(shapes.layers))
        self.norm = nn.RMSNorm(shapes.hidden)
        self.lm_head = nn.Linear(shapes.hidden, shapes.vocab, bias=False)
        if shapes.tied_embeddings:
            self.lm_head.weight = self.embed.weight

    def forward(self, tokens, past):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, past)
        return self.lm_head(self.norm(x))


@pytest.mark.parametrize(("batch", "L", "S"), [(1, 1, 1), (3, 1, 20), (2, 16, 16), (2, 5, 12)])
@pytest.mark.parametrize("model", [LLAMA, QWEN2], ids=lambda model: model.name)
def test_flops_of_every_linear_layer_and_of_attention(model, batch, L, S):
    decoder = Decoder(model)
    assert sum(parameter.numel() for parameter in decoder.parameters()) == model.params
    past = torch.zeros(batch, model.n_kv, S - L, model.head_dim)
    with flop_counter.FlopCounterMode(display=False) as counter, torch.no_grad():
        decoder(torch.zeros(batch, L, dtype=torch.long), past)
    counted: Counter[str] = Counter()
    for module, flops in counter.get_flop_counts().items():
        counted[module.rpartition(".")[2]] += sum(flops.values())
    step = model.step({(L, S): batch}, sampled=batch * L)
    linear = {name: step[name].flops for name in [*model.projections(), "lm_head"]}
    assert {name: counted[name] for name in linear} == linear
    projections = sum(linear[name] for name in ("q_proj", "k_proj", "v_proj", "o_proj"))
    unmasked = attention(model.n_q, model.n_kv, model.head_dim, L, S) * (batch * model.layers)
    assert counted["self_attn"] - projections == unmasked.flops
    assert counter.get_total_flops() == sum(linear.values()) + unmasked.flops
