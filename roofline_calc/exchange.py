"""What cards send each other in a step, in bytes, and the least time it takes over their links.

Two figures for each exchange. The least, which nothing beats: what one card must send and what it must receive, however
the network helps; a switch may add partial sums and copy rows on their way (NVLink SHARP). And what a card sends where
only cards add and copy, in a ring.
"""

from collections.abc import Iterable
from math import comb
from typing import NamedTuple

from .checks import check_positive, check_whole


class Exchange(NamedTuple):
    """What one card sends to the others and gets from them in a step, in bytes, summed over the layers.

    Args:
        times: how often in a step.
        sent, received: at least, whatever switches between the cards do.
        between_cards: sent where switches only pass on, by the best known algorithm.
    """

    times: int
    sent: float
    received: float
    between_cards: float

    @property
    def back(self) -> "Exchange":
        """The same rows on their way back."""
        return self._replace(sent=self.received, received=self.sent)

    @property
    def least(self) -> float:
        """Bytes of the busier direction: links carry both at once."""
        return max(self.sent, self.received)


def all_reduce(message: float, t: int, times: int = 1) -> Exchange:
    r"""The sum over t cards of a message of so many bytes, on all of them: what follows o_proj and down.

    A card's part of the sum has to leave it, and the rest of the sum to come in: the message each way at the least,
    where a switch adds (NVLink SHARP comes near with $1 + 1/t$). Cards alone send $2 (t-1)/t$ of it, in a ring.

    Args:
        message: bytes. t: cards. times: how often in a step.

    Raises:
        ValueError: a number is not positive, t or times not whole.

    >>> all_reduce(1000, 8)
    Exchange(times=1, sent=1000, received=1000, between_cards=1750.0)

    Source: Patarasuk & Yuan, J. Parallel Distrib. Comput. 69(2), 2009; NVIDIA, NCCL 2.17 release notes (NVLS).
    """
    check_positive(message=message)
    check_whole(t=t, times=times)
    if t == 1:
        return Exchange(times, 0, 0, 0)
    return Exchange(times, message * times, message * times, 2 * (t - 1) / t * message * times)


def all_gather(message: float, t: int, times: int = 1) -> Exchange:
    """A message of so many bytes, of which each of t cards holds its t-th part, onto all of them.

    A card receives what it lacks, $(t-1)/t$, and sends its part once if a switch copies it. Arguments and errors as for
    `all_reduce`.
    """
    check_positive(message=message)
    check_whole(t=t, times=times)
    missing = (t - 1) / t * message * times
    return Exchange(times, message / t * times if t > 1 else 0, missing, missing)


def cards_touched(experts: int, top_k: int, cards: int) -> float:
    r"""Expected number of cards on which a token's experts lie, whole experts being shared out evenly.

    Each of C cards holds $E/C$ of the E experts; with k of them chosen evenly a card is met with probability
    $1 - \binom{E - E/C}{k} / \binom{E}{k}$.

    Raises:
        ValueError: an argument is not a positive whole number, top_k exceeds experts, or cards do not divide them.

    >>> round(cards_touched(256, 8, 32), 2), cards_touched(8, 2, 1)
    (7.27, 1.0)
    """
    return cards * _met(experts, top_k, cards)


def _met(experts: int, top_k: int, cards: int) -> float:
    """Probability that one of a token's experts lies on a given card."""
    check_whole(experts=experts, top_k=top_k, cards=cards)
    if top_k > experts:
        raise ValueError(f"top_k = {top_k}: must be at most experts ({experts})")
    if experts % cards:
        raise ValueError(f"cards = {cards}: must divide experts ({experts})")
    return 1 - comb(experts - experts // cards, top_k) / comb(experts, top_k)


def dispatch(
    tokens: float, row: float, experts: int, top_k: int, cards: int, here: int = 1, times: int = 1,
) -> Exchange:
    r"""Rows of a card's tokens to the cards on which their experts lie; `Exchange.back` is what the experts give back.

    A row goes once to each card, however many of the token's experts are there, and comes back from it as one partial
    sum: T tokens make $T (C - h) \left(1 - \binom{E - E/C}{k} / \binom{E}{k}\right)$ rows, C being cards and h those
    that have them. A switch that copies needs each row but once. Routing is even and independent, as in
    `experts_touched`; routing limited to a few nodes (DeepSeek-V3) meets fewer cards.

    Args:
        tokens: that the card sends; all cards send alike. row: bytes of one.
        experts, top_k, cards: as for `cards_touched`.
        here: cards that have the row already (1: the sender alone). times: how often in a step.

    Raises:
        ValueError: as `cards_touched`; tokens or row is not positive.

    Source: DeepSeek-V3, arXiv:2412.19437, section 3.2.2; DeepEP, github.com/deepseek-ai/DeepEP.
    """
    check_positive(tokens=tokens, row=row)
    check_whole(here=here, times=times)
    away = (cards - here) * _met(experts, top_k, cards)
    any_away = 1 - comb(experts // cards * here, top_k) / comb(experts, top_k)
    rows = tokens * row * times
    return Exchange(times, rows * any_away, rows * away, rows * away)


def exchange_bound(exchanges: Iterable[Exchange], link: float) -> float:
    r"""Seconds that the exchanges of a step take at least over a link of so many byte/s each way; zero for none.

    $\max(\sum_i \text{sent}_i, \sum_i \text{received}_i) / \text{link}$: both directions are busy at once.

    Raises:
        ValueError: the link is not positive and finite.
    """
    check_positive(link=link)
    exchanges = list(exchanges)
    return max(sum(one.sent for one in exchanges), sum(one.received for one in exchanges)) / link


def exchange_by_exchange(exchanges: Iterable[Exchange], link: float) -> float:
    r"""Seconds of the exchanges one after the other: $\sum_i \max(\text{sent}_i, \text{received}_i) / \text{link}$.

    Raises:
        ValueError: the link is not positive and finite.
    """
    check_positive(link=link)
    return sum(one.least for one in exchanges) / link
