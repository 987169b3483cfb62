"""What the cards of a step exchange, as `ops` answers it: in words, and as data."""

from collections.abc import Mapping
from typing import Any

from .analysis import Report
from .exchange import Exchange, exchange_bound, exchange_by_exchange
from .tables import scaled, significant

UNKNOWN = "the catalogue has no figure for this card's link, so the exchanges have no time"


def link_times(exchanges: Mapping[str, Exchange], link: float | None, report: Report) -> dict[str, float]:
    """Seconds of the exchanges, and of the step with them; empty where the link is not known."""
    if link is None:
        return {}
    bound, one_by_one = exchange_bound(exchanges.values(), link), exchange_by_exchange(exchanges.values(), link)
    return {
        "bound": bound, "one_by_one": one_by_one, "lower_bound": max(report.lower_bound, bound),
        "kernel_by_kernel": report.kernel_by_kernel + one_by_one,
    }


def link_data(exchanges: Mapping[str, Exchange], link: float | None, report: Report) -> dict[str, Any]:
    """The exchanges for programs, in bytes and seconds."""
    rows = [{"exchange": name} | one._asdict() for name, one in exchanges.items()]
    return {"link": link, "exchanges": rows, "seconds": link_times(exchanges, link, report)}


def link_lines(
    exchanges: Mapping[str, Exchange], cards: int, link: float | None, report: Report, tokens: int
) -> list[str]:
    """The exchanges for people: a line for each, the least time of all, and the step's times with it."""
    if not exchanges:
        return []
    lines = [
        f"{name:18}{one.times} x {scaled(one.least / one.times, 'byte')} each way at least, "
        f"{scaled(one.between_cards / one.times, 'byte')} where switches do not help"
        for name, one in exchanges.items()
    ]
    times = link_times(exchanges, link, report)
    if not times or link is None:
        return [*lines, f"link              {UNKNOWN}"]
    bound, in_turn = times["lower_bound"], times["kernel_by_kernel"]
    speeds = [f"{significant(tokens / seconds)} tokens/s" for seconds in (bound, in_turn)]
    return [
        *lines,
        f"link              at least {scaled(times['bound'], 's')} at {scaled(link, 'byte/s')} each way, "
        f"as if all {cards} cards were in one node",
        f"bound with link   {scaled(bound, 's')}, at most {speeds[0]}: exchanges run behind kernels; nothing beats it",
        f"one by one, link  {scaled(in_turn, 's')}, {speeds[1]}: kernel by kernel, then exchange by exchange",
    ]
