"""One of several cards: what it holds and counts, what the cards exchange, and splits that there are not."""

import dataclasses
import re
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from small_models import mla, moe, small
from support import ROOT

from roofline_calc import (
    ACCELERATORS,
    MODELS,
    QWEN,
    Exchange,
    MoE,
    Precision,
    Stored,
    all_reduce,
    analyse,
    dispatch,
    exchange_bound,
    experts_touched,
    read_config,
)

DEEPSEEK, LLAMA = MODELS["deepseek-v3"], MODELS["llama-3.1-70b"]
FP8 = {"layers": Stored(1 + 4 / 128**2, "fp8", (128, 128))}
AWQ = {"layers": Stored(0.5 + 2.5 / 128, block=(1, 128))}

law = settings(deadline=None, max_examples=60)
sparse = st.sampled_from([MODELS[name] for name in (
    "deepseek-v3", "qwen3-30b-a3b", "gpt-oss-20b", "mixtral-8x7b", "qwen3-next-80b-a3b", "nemotron-3-nano",
    "nemotron-3-super", "gemma-4-26b-a4b",
)])


# --------------------------------------------------------------------------- tensor parallelism


def test_llama_sums_twice_a_layer():
    """80 layers, 64 tokens of 8192 in BF16: a message of 1 MiB, 160 times; the embedding's rows come in from seven."""
    message = 64 * 8192 * 2
    found = LLAMA.card(8).exchanges(64)
    assert message == 2**20
    assert found == {
        "embedding gather": Exchange(1, message / 8, message * 7 / 8, message * 7 / 8),
        "o_proj all-reduce": Exchange(80, 80 * message, 80 * message, 80 * message * 7 / 4),
        "down all-reduce": Exchange(80, 80 * message, 80 * message, 80 * message * 7 / 4),
    }
    seconds = Fraction(160 * 2**20 + 7 * 2**17, 450 * 10**9)  # of an H100's link
    assert exchange_bound(found.values(), ACCELERATORS["h100-sxm"].link) == pytest.approx(float(seconds))
    assert round(1e6 * float(seconds)) == 375


def test_one_card_exchanges_nothing():
    assert LLAMA.exchanges(64) == LLAMA.card(1).exchanges(64) == DEEPSEEK.exchanges(1) == {}


def test_a_message_is_as_wide_as_what_is_not_quantised():
    card = small(intermediate=12).card(3)
    wide = card.exchanges(9, Precision(weights=0.5, others=4, modules={"embedding": Stored(1)}))
    assert wide["o_proj all-reduce"] == all_reduce(9 * 11 * 4, 3, 5)
    assert wide["embedding gather"].received == pytest.approx(9 * 11 * 2 / 3)
    with pytest.raises(ValueError, match=r"^tokens = 0: "):
        card.exchanges(0)


def test_every_kind_of_layer_is_summed_as_often_as_it_hands_on_a_partial_sum():
    """Side by side, attention and feed-forward network add up before they are summed over the cards."""
    side_by_side = small(intermediate=12, norms_per_layer=1).card(3).exchanges(1)
    assert {name: one.times for name, one in side_by_side.items()} == {"embedding gather": 1, "down all-reduce": 5}
    one_thing_each = MODELS["nemotron-3-nano"].card(2).exchanges(1)  # 23 Mamba-2, 6 attention, 23 experts
    assert {name: one.times for name, one in one_thing_each.items()} == {
        "embedding gather": 1, "o_proj all-reduce": 29, "down all-reduce": 23}
    both = moe(intermediate=6, shared_intermediate=9, dense_layers=1)
    found = dataclasses.replace(both, intermediate=12).card(3).exchanges(1)
    assert {name: one.times for name, one in found.items()} == {
        "embedding gather": 1, "o_proj all-reduce": 5, "down all-reduce": 5}


# --------------------------------------------------------------------------- blocks of quantised weights


@pytest.mark.parametrize(
    ("model", "t", "message"),
    [
        # github.com/vllm-project/vllm, issue 17569: Qwen3-235B-A22B-FP8, 1536 over 8 cards
        (dataclasses.replace(MODELS["qwen3-235b-a22b"], stored=FP8), 8,
         "t = 8: leaves expert_gate_proj 192 outputs, no multiple of the 128 that share a scale; allowed are 1, 2, 4"),
        # vllm, issue 25292, and github.com/QwenLM/Qwen3, issue 1485: Qwen3-30B-A3B-FP8, 768 over 4 and over 8
        (dataclasses.replace(MODELS["qwen3-30b-a3b"], stored=FP8), 4,
         "t = 4: leaves expert_gate_proj 192 outputs, no multiple of the 128 that share a scale; allowed are 1, 2"),
        (dataclasses.replace(MODELS["qwen3-30b-a3b"], stored=FP8), 8,
         "t = 8: leaves expert_gate_proj 96 outputs, no multiple of the 128 that share a scale; allowed are 1, 2"),
        # github.com/sgl-project/sglang, issue 3345: 18432 over 32; 16 cards do
        (DEEPSEEK, 32,
         "t = 32: leaves gate_proj 576 outputs, no multiple of the 128 that share a scale; allowed are 1, 2, 4, 8, 16"),
        # vllm, pull request 39046: MiniMax-M2.5 over 8 cards needs weights that are padded
        (MODELS["minimax-m2"], 8,
         "t = 8: leaves expert_gate_proj 192 outputs, no multiple of the 128 that share a scale; allowed are 1, 2, 4"),
        # github.com/QwenLM/Qwen3-VL, issue 231: Qwen2-VL-72B-Instruct-AWQ and -GPTQ, 29568 / 128 = 231 groups
        (dataclasses.replace(MODELS["qwen2.5-72b"], intermediate=29568, stored=AWQ), 2,
         "t = 2: leaves down_proj 14784 inputs, no multiple of the 128 that share a scale; allowed are 1"),
    ],
)
def test_a_split_within_a_block_is_refused_as_engines_refuse_it(model, t, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        model.card(t)
    assert t not in model.valid_tp
    plain = dataclasses.replace(model, stored={})
    assert t in plain.valid_tp
    assert model.valid_tp == tuple(int(n) for n in message.rpartition("are ")[2].split(", "))


def test_a_checkpoint_says_in_which_blocks_it_is_quantised():
    """The config of Qwen3-235B-A22B-FP8 itself, and one of AWQ with its groups of 128."""
    model = read_config(ROOT / "tests/calculator/configs/Qwen3-235B-A22B-FP8.json")
    with pytest.raises(ValueError, match=r"^t = 8: leaves expert_gate_proj 192 outputs"):
        model.card(8)
    assert model.valid_tp == (1, 2, 4)
    assert read_config(ROOT / "tests/calculator/configs/Qwen3-235B-A22B.json").valid_tp == (1, 2, 4, 8, 16, 32, 64)
    awq = read_config(ROOT / "tests/calculator/configs/qwen3-30b-awq-attention-16bit.json")
    with pytest.raises(ValueError, match=r"^t = 4: leaves expert_down_proj 192 inputs, no multiple of the 128"):
        awq.card(4)


def test_only_what_is_cut_must_keep_its_blocks():
    """DeepSeek-V3's kv_a_proj is 576 wide and Llama's k_proj on 16 cards 128: neither is in the way."""
    assert DEEPSEEK.valid_tp == (1, 2, 4, 8, 16)
    assert 16 in dataclasses.replace(MODELS["llama-3.1-8b"], stored={"k_proj": FP8["layers"]}).valid_tp
    narrow = small(hidden=128, n_q=4, n_kv=2, head_dim=64, intermediate=512, stored={"k_proj": FP8["layers"]})
    assert narrow.valid_tp == (1,)  # 64 outputs of k_proj on each of two cards
    experts = dataclasses.replace(MODELS["qwen3-30b-a3b"], stored=FP8)
    assert experts.card(4, ep=4).moe.intermediate == 768  # whole experts are not cut


@pytest.mark.parametrize(("block", "side"), [((0, 128), "block_outputs = 0"), ((128, 1.5), "block_inputs = 1.5")])
def test_a_block_has_whole_sides(block, side):
    with pytest.raises(ValueError, match=rf"^{re.escape(side)}: must be a positive whole number$"):
        Stored(1, block=block)


# --------------------------------------------------------------------------- expert parallelism


def test_deepseek_over_128_cards():
    """Two of 256 experts in each of 58 layers, 3 * 7168 * 2048 weights each; all else on every card."""
    card, expert = DEEPSEEK.card(1, ep=128), 3 * 7168 * 2048
    assert card.params == 671_026_419_200 - 58 * 254 * expert == 22_226_310_656
    assert card.name == "DeepSeek-V3, one of 128 cards"
    assert card.kv_bytes_per_token == DEEPSEEK.kv_bytes_per_token
    one, whole = card.step({(1, 4096): 128}, fused=True), DEEPSEEK.step({(1, 4096): 128}, fused=True)
    assert one["absorbed_attention"] == whole["absorbed_attention"]
    assert one["expert_down_proj"].flops == 58 * 2 * 128 * 8 * 2048 * 7168  # eight rows of each token somewhere
    touched = Fraction(2) * (1 - Fraction(31, 32) ** (128 * 128))
    assert one["expert_down_proj"].traffic["W"] == pytest.approx(float(58 * touched * 2048 * 7168) * 1.000244140625)
    arriving = 128 * 128 * (1 - Fraction(248 * 247, 256 * 255))  # tokens of all cards that use one of the two experts
    assert one["expert_gate_up_proj"].traffic["X"] == pytest.approx(float(58 * arriving * 7168))
    assert one["expert_down_proj"].traffic["X"] == pytest.approx(58 * 128 * 8 * 2048)


def test_deepseek_dispatches_in_fp8_and_combines_in_16_bits():
    found = DEEPSEEK.card(1, ep=128).exchanges(128)
    rows = Fraction(128 * 127) * (1 - Fraction(248 * 247, 256 * 255))  # to the other 127 cards
    assert set(found) == {"dispatch", "combine"}
    assert found["dispatch"].received == pytest.approx(float(58 * rows * 7168))
    assert found["combine"].sent == pytest.approx(float(58 * rows * 7168 * 2))
    wide = DEEPSEEK.card(1, ep=128).exchanges(128, Precision())
    assert wide["dispatch"].received == found["combine"].sent


def test_groups_of_cards_sum_within_and_dispatch_beyond():
    """DeepSeek-V3's own prefill: attention over 4 cards in each of 8 groups, experts over 32 (arXiv:2412.19437, 3.4.1).

    Its shared experts are split over the 4 cards as well, so each sends 1/4 of the group's tokens to 28 others.
    """
    found = DEEPSEEK.card(4, ep=32).exchanges(4096)
    assert {name: one.times for name, one in found.items()} == {
        "embedding gather": 1, "o_proj all-reduce": 61, "down all-reduce": 61, "dispatch": 58, "combine": 58}
    assert found["dispatch"] == dispatch(1024, 7168, 256, 8, 32, 4, 58)
    same = DEEPSEEK.card(8, ep=8).exchanges(64)  # one group: the sums carry what the experts give
    assert same == DEEPSEEK.card(8).exchanges(64)


def test_two_cards_share_the_experts():
    mixtral = MODELS["mixtral-8x7b"]
    assert (mixtral.card(2, ep=2).moe.intermediate, mixtral.card(2).moe.intermediate) == (14336, 7168)
    assert set(mixtral.card(1, ep=2).exchanges(1)) == {"dispatch", "combine"}
    assert mixtral.card(1, ep=2).params == mixtral.params - 32 * 4 * 3 * 4096 * 14336
    met = 1 - Fraction(4 * 3, 8 * 7)  # unless both of its experts are among the other four
    rows = mixtral.card(1, ep=2).linear_costs(7)["expert_up_proj"].traffic["X"]
    assert rows == pytest.approx(float(32 * 2 * 7 * met * 4096 * 2))


def test_without_shared_experts_a_groups_cards_dispatch_to_each_other():
    found = MODELS["qwen3-30b-a3b"].card(4, ep=4).exchanges(64)
    assert {name: one.times for name, one in found.items()} == {
        "embedding gather": 1, "o_proj all-reduce": 48, "dispatch": 48, "combine": 48}
    assert found["dispatch"] == dispatch(16, 2 * 2048, 128, 8, 4, 1, 48)
    # No more than the sum of the whole message, in either direction.
    summed = all_reduce(64 * 2048 * 2, 4, 48)
    exchanged = [found["dispatch"], found["combine"]]
    assert sum(one.sent for one in exchanged) < summed.sent
    assert sum(one.received for one in exchanged) < summed.received


def test_a_dense_network_beside_the_experts_is_summed_too():
    model = small(intermediate=12, moe=MoE(experts=6, top_k=2, intermediate=3, beside_dense=True))
    assert model.card(3).exchanges(1)["down all-reduce"].times == 10
    assert model.card(3, ep=3).exchanges(1)["down all-reduce"].times == 5


@law
@given(sparse, st.integers(1, 40), st.integers(1, 3000))
def test_one_card_of_expert_parallelism_is_the_model(model, batch, context):
    assert model.card(1, ep=1) == model
    for t in model.valid_tp[:3]:
        assert model.card(t, ep=1) == model.card(t)


@law
@given(sparse, st.sampled_from([2, 4, 8, 16, 32]), st.integers(1, 40), st.integers(1, 3000), st.booleans())
def test_the_cards_together_do_the_work_of_the_whole_batch(model, ep, batch, context, fused):
    """Each of ep cards attends to a batch of its own; all experts together see every token once."""
    assume(model.moe.experts % ep == 0)
    one = model.card(1, ep=ep).step({(1, context): batch}, fused=fused)
    every = model.step({(1, context): batch * ep}, fused=fused)
    for name, cost in every.items():
        assert ep * one[name].flops == pytest.approx(cost.flops)
        if name.startswith("expert_"):  # which of them are read depends on the tokens of all
            assert ep * one[name].traffic["W"] == pytest.approx(cost.traffic["W"])
            assert ep * one[name].traffic["Y"] == pytest.approx(cost.traffic["Y"])
            assert ep * one[name].traffic["X"] >= cost.traffic["X"] * (1 - 1e-12)  # a token arrives on several cards
    assert ep * one.compulsory["input"] == pytest.approx(every.compulsory["input"])
    assert ep * one.compulsory["KV read"] == pytest.approx(every.compulsory["KV read"])


@law
@given(sparse, st.sampled_from([2, 4, 8, 16, 32]), st.integers(1, 64))
def test_the_cards_together_hold_every_expert_once(model, ep, tokens):
    assume(model.moe.experts % ep == 0)
    card, down = model.card(1, ep=ep), model.linear_layers()["expert_down_proj"]
    routed = {name: line for name, line in model.linear_layers().items() if name.startswith("expert_")}
    weights = sum(line.K * line.N * line.layers for line in routed.values())
    biases = model.moe.bias * (2 * model.moe.intermediate + model.hidden) * down.layers
    here = (weights + biases) * (model.moe.experts - model.moe.experts // ep)
    assert model.params - card.params == pytest.approx(here)
    touched = card.linear_layers()["expert_down_proj"].touched(tokens)
    assert ep * touched == pytest.approx(experts_touched(model.moe.experts, model.moe.top_k, ep * tokens))


@law
@given(sparse, st.integers(1, 64))
def test_groups_of_cards_share_the_experts_rows(model, tokens):
    """Attention split over two cards, four groups: of the experts' work a card has an eighth of all groups'."""
    assume(2 in model.valid_tp and model.moe.experts % 8 == 0)
    one = model.card(2, ep=8).linear_costs(tokens)
    for name, cost in model.linear_costs(4 * tokens).items():
        if name.startswith("expert_"):
            assert 8 * one[name].flops == pytest.approx(cost.flops)
            assert 8 * one[name].traffic["Y"] == pytest.approx(cost.traffic["Y"])
    for name, cost in model.card(2, ep=8).elementwise_costs(tokens).items():
        assert cost.bytes <= model.elementwise_costs(tokens)[name].bytes


def test_elementwise_work_on_experts_is_shared_out_too():
    model = small(moe=MoE(experts=6, top_k=2, intermediate=3), n_q=6, n_kv=3)
    one, every = model.card(1, ep=3).elementwise_costs(4), model.elementwise_costs(12)
    for name in ("swiglu", "combine", "residual", "rope"):
        assert 3 * one[name].flops == pytest.approx(every[name].flops)
        assert 3 * one[name].bytes == pytest.approx(every[name].bytes)
    quantised = Precision(modules={"layers": Stored(1, "fp8")})
    one, every = model.card(1, ep=3).elementwise_costs(4, quantised), model.elementwise_costs(12, quantised)
    assert 3 * one["quantise"].bytes == pytest.approx(every["quantise"].bytes)


@pytest.mark.parametrize(("t", "ep"), [(1, 4), (2, 8)])
def test_an_expert_turns_at_its_share_of_all_groups_tokens(t, ep):
    line = MODELS["mixtral-8x7b"].card(t, ep=ep).linear_layers()["expert_down_proj"]
    whole = MODELS["mixtral-8x7b"].linear_layers()["expert_down_proj"]
    assert line.crossing(200, Precision()) == pytest.approx(whole.crossing(200, Precision()) * t / ep)
    up = MODELS["mixtral-8x7b"].card(t, ep=ep).linear_layers()["expert_up_proj"]
    rows = up.crossing(200, Precision()) * 2 * ep / t / 8  # of one expert
    intensity = 2 / (2 / 14336 / up.per_input + 2 / rows + 2 / 4096)
    assert intensity == pytest.approx(200)
    assert up.per_input == pytest.approx(2 / (ep * (1 - Fraction((8 - 8 // ep) * (7 - 8 // ep), 8 * 7))))


@pytest.mark.parametrize(
    ("model", "t", "ep", "message"),
    [
        (QWEN, 1, 2, "ep = 2: Qwen2.5-7B-Instruct has no experts to spread over cards"),
        (DEEPSEEK, 1, 72, "ep = 72: must divide the experts (256)"),
        (DEEPSEEK, 8, 4, "ep = 4: must be a multiple of t (8), the cards of a group"),
        (DEEPSEEK, 4, 2, "ep = 2: must be a multiple of t (4), the cards of a group"),
        (DEEPSEEK, 1, 0, "ep = 0: must be a positive whole number"),
        (DEEPSEEK, 32, 32, "t = 32: leaves gate_proj 576 outputs, no multiple of the 128 that share a scale; "
                           "allowed are 1, 2, 4, 8, 16"),
        (DEEPSEEK.card(1, ep=8), 2, 1, "t = 2: these are the shapes of one of 8 cards already"),
        (DEEPSEEK.card(8), 1, 8, "t = 1, ep = 8: these are the shapes of one of 8 cards already"),
    ],
)
def test_a_spread_that_there_is_not_says_why(model, t, ep, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        model.card(t, ep=ep)


def test_latent_attention_without_experts_has_nothing_to_spread():
    with pytest.raises(ValueError, match=r"^ep = 2: small has no experts"):
        mla().card(1, ep=2)


# Published speeds of DeepSeek-V3 over many cards: card, phase, cards that share the experts, tokens of context,
# sequences per card, tokens/s of a node of eight. DeepSeek's own profile of H800s, and SGLang's of H100s, routing as
# it was and even; github.com/lm-sys/lm-sys.github.io, blog/2025-05-05-large-scale-ep.md, section "Profile
# Results". SGLang decoded on 72 cards with 32 experts held twice: four a card, as 64 cards hold them without.
PUBLISHED = [
    ("h800-sxm", "prefill", 32, 4096, 4, 62_713),
    ("h100-sxm", "prefill", 32, 4096, 4, 50_302),
    ("h100-sxm", "prefill", 32, 4096, 4, 59_337),
    ("h800-sxm", "decode", 128, 4096, 128, 18_598),
    ("h100-sxm", "decode", 64, 2000, 256, 22_282),
]


@pytest.mark.parametrize("row", PUBLISHED)
def test_no_published_speed_over_many_cards_beats_the_bound(row):
    name, phase, ep, context, sequences, speed = row
    model, card = DEEPSEEK.card(1, ep=ep), ACCELERATORS[name]
    L = context if phase == "prefill" else 1
    report = analyse(model.step({(L, context): sequences}, fused=True), card)
    exchanges = model.exchanges(L * sequences).values()
    bound = max(report.lower_bound, exchange_bound(exchanges, card.link))
    fraction = speed / 8 / (L * sequences / bound)
    print(f"{name} {phase}: {speed:,} of {8 * L * sequences / bound:,.0f} tokens/s, {fraction:.1%} of the bound")
    assert 0.1 < fraction < 1
