"""The command line over several cards: exchanges and their times, groups of cards, splits that there are not."""

import json

import pytest

from roofline_calc import (
    ACCELERATORS,
    MODELS,
    analyse,
    exchange_bound,
    exchange_by_exchange,
    first_batch,
    largest_batch,
)

DEEPSEEK, H200 = MODELS["deepseek-v3"], ACCELERATORS["h200"]
WIDE = "--model deepseek-v3 --hardware h200 --ep 32"


def test_ops_prints_what_the_cards_exchange_on_lines_of_their_own(cli):
    out = cli("ops --model llama-3.1-70b --hardware h100-sxm --tp 8 --batch 64 --fused")
    lines = {line[:18].strip(): line[18:] for line in out.splitlines() if line}
    assert lines["embedding gather"].startswith("1 x 917.5 kbyte each way at least, 917.5 kbyte where")
    for name in ("o_proj all-reduce", "down all-reduce"):
        assert lines[name] == "80 x 1.049 Mbyte each way at least, 1.835 Mbyte where switches do not help"
    assert lines["link"].startswith("at least 374.9 µs at 450 Gbyte/s each way, as if all 8 cards were in one node")
    assert lines["lower bound"].startswith("6.79 ms, at most 9,425 tokens/s")
    assert lines["bound with link"].startswith("6.79 ms, at most 9,425 tokens/s")
    assert lines["kernel by kernel"].startswith("6.937 ms, 9,226 tokens/s")
    assert lines["one by one, link"].startswith("7.311 ms, 8,753 tokens/s")  # 6.937 and 0.375


def test_exchanges_for_programs(cli):
    data = json.loads(cli("ops --model llama-3.1-8b --hardware rtx-4090 --tp 4 --phase prefill --context 4096 --json"))
    model, link = MODELS["llama-3.1-8b"].card(4), ACCELERATORS["rtx-4090"].link
    report, found = analyse(model.step([(4096, 4096)]), ACCELERATORS["rtx-4090"]), model.exchanges(4096)
    links = data["links"]
    assert (links["link"], data["tensor_parallel"], data["expert_parallel"], data["data_parallel"]) == (32e9, 4, 1, 1)
    assert links["exchanges"] == [{"exchange": name} | one._asdict() for name, one in found.items()]
    bound, one_by_one = exchange_bound(found.values(), link), exchange_by_exchange(found.values(), link)
    assert links["seconds"] == {
        "bound": bound, "one_by_one": one_by_one, "lower_bound": max(report.lower_bound, bound),
        "kernel_by_kernel": report.kernel_by_kernel + one_by_one,
    }
    assert data["total"]["lower_bound"] == report.lower_bound  # without the link, as on one card


def test_a_slow_link_is_the_bound(cli):
    seconds = json.loads(cli("ops --model qwen3-30b-a3b --hardware rtx-4090 --ep 8 --phase prefill --context 512 "
                             "--json"))["links"]["seconds"]
    assert seconds["lower_bound"] == seconds["bound"]


def test_one_card_exchanges_nothing(cli):
    assert "link" not in cli("ops --hardware h100-sxm")
    assert json.loads(cli("ops --json"))["links"]["exchanges"] == []


def test_a_card_whose_link_is_not_known_says_so(cli):
    out = cli("ops --hardware m1-max --tp 2")
    assert "o_proj all-reduce 28 x 7.168 kbyte each way" in out
    assert "link              the catalogue has no figure for this card's link, so the exchanges have no time" in out
    assert "with link" not in out
    links = json.loads(cli("ops --hardware m1-max --tp 2 --json"))["links"]
    assert (links["link"], links["seconds"], len(links["exchanges"])) == (None, {}, 3)


def test_a_batch_is_that_of_all_groups(cli):
    data = json.loads(cli(f"ops {WIDE} --batch 1024 --context 4096 --fused --json"))
    card = DEEPSEEK.card(1, ep=32)
    report = analyse(card.step({(1, 4096): 32}, fused=True), H200)
    assert data["sequences"] == [{"query_tokens": 1, "context": 4096, "count": 1024}]
    assert data["total"]["kernel_by_kernel"] == report.kernel_by_kernel
    assert data["tokens_per_second"]["lower_bound"] == pytest.approx(1024 / report.lower_bound)
    assert data["kv_bytes"] == 32 * 4096 * 70272
    assert (data["expert_parallel"], data["data_parallel"]) == (32, 32)
    assert [one["exchange"] for one in data["links"]["exchanges"]] == ["dispatch", "combine"]
    out = cli(f"ops {WIDE} --batch 1024 --context 4096")
    assert "1,024 tokens in flight in 32 groups of as many" in out
    assert "as if all 32 cards were in one node" in out
    assert json.loads(cli(f"ops {WIDE} --json"))["sequences"][0]["count"] == 32  # one for each, unless told
    groups = cli("ops --model deepseek-v3 --hardware h200 --tp 4 --ep 32 --dp 8 --batch 8")
    assert "8 tokens in flight in 8 groups of as many" in groups


def test_sweeps_and_crossings_are_those_of_all_groups(cli):
    points = json.loads(cli(f"sweep {WIDE} --json"))["points"]
    assert [point["batch"] for point in points] == [32 * 2**i for i in range(11)]
    report = analyse(DEEPSEEK.card(1, ep=32).step({(1, 2048): 4}), H200)
    assert points[2]["lower_bound"] == pytest.approx(report.lower_bound)
    assert points[2]["tokens_per_second"] == pytest.approx(128 / report.lower_bound)
    found, card = json.loads(cli(f"cross {WIDE} --batch 64 --json")), DEEPSEEK.card(1, ep=32)
    assert found["first_compute_bound"]["decode_batch"] == 32 * first_batch(card, H200, 2048)
    assert found["first_compute_bound"]["largest_batch"] == 32 * largest_batch(card, H200.memory, 2048)
    turns = {row["operator"]: row["crossing"] for row in found["linear_layers"]}
    whole = json.loads(cli("cross --model deepseek-v3 --hardware h200 --json"))["linear_layers"]
    alone = {row["operator"]: row["crossing"] for row in whole}
    assert turns["expert_down_proj"] == pytest.approx(alone["expert_down_proj"])
    assert turns["o_proj"] == pytest.approx(32 * alone["o_proj"])


def test_weights_of_ones_own_width_have_no_blocks(cli):
    assert "one of 32 cards" in cli("ops --model deepseek-v3 --hardware h200 --tp 32 --weights bf16")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ops --tp 3", "t = 3: must divide n_q (28)"),
        ("ops --tp 0", "tp = 0: must be a positive whole number"),
        ("ops --ep 0", "ep = 0: must be a positive whole number"),
        ("ops --ep 8", "ep = 8: Qwen2.5-7B-Instruct has no experts to spread over cards"),
        ("ops --dp 8", "--dp 8: groups that share no experts (--ep) are replicas; ask for one, with its batch"),
        ("ops --model deepseek-v3 --tp 32",
         "t = 32: leaves gate_proj 576 outputs, no multiple of the 128 that share a scale; allowed are 1, 2, 4, 8, 16"),
        ("ops --model deepseek-v3 --tp 4 --ep 32 --dp 4", "--dp 4: over --ep 32 cards in groups of --tp 4 it is 8"),
        ("ops --model deepseek-v3 --tp 3 --ep 32", "t = 3: must divide n_q (128)"),
        ("ops --model deepseek-v3 --tp 8 --ep 4", "ep = 4: must be a multiple of t (8), the cards of a group"),
        ("ops --model deepseek-v3 --ep 72", "ep = 72: must divide the experts (256)"),
        ("ops --model deepseek-v3 --ep 32 --batch 33",
         "--batch 33: must be a multiple of 32, the groups of cards (--ep / --tp), which attend to as many sequences "
         "each"),
        ("sweep --model deepseek-v3 --ep 32 --values 32,40",
         "--batch 40: must be a multiple of 32, the groups of cards (--ep / --tp), which attend to as many sequences "
         "each"),
        ("cross --model deepseek-v3 --ep 32 --batch 1",
         "--batch 1: must be a multiple of 32, the groups of cards (--ep / --tp), which attend to as many sequences "
         "each"),
        ("ops --ep x", "argument --ep: 'x' is not a whole number"),
    ],
)
def test_a_combination_that_there_is_not_is_refused_in_one_line(refusal, line, message):
    assert refusal(line) == message
