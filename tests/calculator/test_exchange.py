"""What cards send each other: each exchange longhand, against enumerated routings, and against published transfers."""

import re
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline_calc import (
    ACCELERATORS,
    MODELS,
    Exchange,
    all_gather,
    all_reduce,
    cards_touched,
    dispatch,
    exchange_bound,
    exchange_by_exchange,
)

law = settings(deadline=None, max_examples=60)
routings = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)).map(  # experts, top_k, cards
    lambda found: (found[0] * found[1], min(found[2], found[0] * found[1]), found[1]))


def test_an_all_reduce_sends_the_message_and_gets_the_rest_of_the_sum():
    assert all_reduce(1000, 8) == Exchange(1, 1000, 1000, 1750)
    assert all_reduce(1000, 2, times=3) == Exchange(3, 3000, 3000, 3000)  # of two cards no switch can spare anything
    assert all_reduce(1000, 1) == Exchange(1, 0, 0, 0)


def test_a_gather_gets_what_is_missing():
    assert all_gather(1000, 8, times=2) == Exchange(2, 250, 1750, 1750)
    assert all_gather(1000, 2) == Exchange(1, 500, 500, 500)
    assert all_gather(1000, 1) == Exchange(1, 0, 0, 0)


# Rates of NVIDIA's all_reduce_perf within a node of eight cards, all of them with NVLink SHARP: message over time. The
# reports give 7/4 of it, what a ring would have to send. github.com/NVIDIA/nccl-tests, issues 212 (275 GB/s) and 272
# (475 GB/s times 4/7); github.com/NVIDIA/nccl, issues 1455 (273 GB/s) and 1374 (215 GB/s times 4/7).
REDUCED = [
    ("h100-sxm", Fraction(275)), ("h100-sxm", Fraction(273)), ("h200", Fraction(475 * 4, 7)),
    ("h800-sxm", Fraction(215 * 4, 7)),
]


@pytest.mark.parametrize(("card", "rate"), REDUCED)
def test_no_measured_all_reduce_beats_the_least_but_all_beat_a_ring(card, rate):
    link, message = ACCELERATORS[card].link, 2**30
    seconds = message / float(rate * 10**9)
    one = all_reduce(message, 8)
    assert exchange_bound([one], link) < seconds < one.between_cards / link
    print(f"{card}: {exchange_bound([one], link) / seconds:.0%} of what the link allows")


@pytest.mark.parametrize("routing", [(8, 2, 4, 1), (8, 3, 4, 2), (6, 2, 2, 1), (9, 4, 3, 3)])
def test_a_dispatch_is_the_mean_over_all_routings(routing):
    """Of each choice of experts: the cards that lack the token and have one of them, and whether there is any."""
    experts, top_k, cards, here = routing
    away = [
        {expert // (experts // cards) for expert in chosen} - set(range(here))
        for chosen in combinations(range(experts), top_k)
    ]
    found = dispatch(5, 3, *routing, times=7)
    assert found.received == found.between_cards == pytest.approx(5 * 3 * 7 * sum(map(len, away)) / len(away))
    assert found.sent == pytest.approx(5 * 3 * 7 * sum(map(bool, away)) / len(away))
    assert found.back == Exchange(7, found.received, found.sent, found.between_cards)


@law
@given(routings)
def test_a_token_touches_no_more_cards_than_experts_or_cards(routing):
    experts, top_k, cards = routing
    touched = cards_touched(*routing)
    assert 1 - 1e-12 <= touched <= min(top_k, cards) + 1e-12
    assert cards_touched(experts, top_k, experts) == pytest.approx(top_k)
    assert cards_touched(experts, top_k, 1) == 1
    assert cards_touched(experts, 1, cards) == pytest.approx(1)


def test_deepseek_meets_7_8_of_128_cards():
    """Two of 256 experts on a card, 8 chosen: it is missed with probability (248 * 247) / (256 * 255)."""
    met = 1 - Fraction(248 * 247, 256 * 255)
    assert met == 1 - Fraction(comb(254, 8), comb(256, 8))
    assert cards_touched(256, 8, 128) == pytest.approx(float(128 * met))
    one = dispatch(128, 7168, 256, 8, 128)
    assert one.received == pytest.approx(float(128 * 7168 * 127 * met))
    assert one.sent == 128 * 7168


# DeepEP's low-latency kernels on H800s: cards, microseconds and byte/s of dispatch (FP8) and combine (BF16) with 128
# tokens per card, 7168 wide, 8 experts of each; github.com/deepseek-ai/DeepEP, docs/legacy.md. They send a token once
# per expert, also where two lie on one card.
DEEPEP = [
    (8, 77, 98, 114, 127), (16, 118, 63, 195, 74), (32, 155, 48, 273, 53), (64, 173, 43, 314, 46),
    (128, 192, 39, 369, 39), (256, 194, 39, 360, 40),
]


@pytest.mark.parametrize("row", DEEPEP)
def test_published_dispatches_move_no_less_than_counted(row):
    cards, *measured = row
    card = MODELS["deepseek-v3"].card(1, ep=cards)
    found = card.exchanges(128)
    for name, latency, rate in (("dispatch", *measured[:2]), ("combine", *measured[2:])):
        moved = latency * rate * 1000
        counted = found[name].between_cards / 58
        assert counted < moved * (1 + 1 / rate)  # rates are given in whole GB/s, cut off
        if cards >= 128:
            assert counted > 0.9 * moved


def test_link_time_is_that_of_the_busier_direction():
    there = Exchange(1, 10, 70, 70)
    assert exchange_bound([there, there.back], 2) == 40
    assert exchange_by_exchange([there, there.back], 2) == 70
    assert exchange_bound([], 2) == exchange_by_exchange([], 2) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: all_reduce(0, 2), "message = 0: must be positive and finite"),
        (lambda: all_reduce(1, 0), "t = 0: must be a positive whole number"),
        (lambda: all_reduce(1, 2, 0), "times = 0: must be a positive whole number"),
        (lambda: all_gather(-1, 2), "message = -1: must be positive and finite"),
        (lambda: all_gather(1, 1.5), "t = 1.5: must be a positive whole number"),
        (lambda: cards_touched(8, 9, 2), "top_k = 9: must be at most experts (8)"),
        (lambda: cards_touched(8, 2, 3), "cards = 3: must divide experts (8)"),
        (lambda: cards_touched(8, 0, 2), "top_k = 0: must be a positive whole number"),
        (lambda: dispatch(0, 1, 8, 2, 4), "tokens = 0: must be positive and finite"),
        (lambda: dispatch(1, 0, 8, 2, 4), "row = 0: must be positive and finite"),
        (lambda: dispatch(1, 1, 8, 2, 4, 0), "here = 0: must be a positive whole number"),
        (lambda: dispatch(1, 1, 8, 2, 4, 1, 0), "times = 0: must be a positive whole number"),
        (lambda: exchange_bound([], 0), "link = 0: must be positive and finite"),
        (lambda: exchange_by_exchange([], -1), "link = -1: must be positive and finite"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        call()
