"""Argument checks: short in a formula's function, one clear message to its caller."""

# --8<-- [start:checks]
def check_whole(**sizes: float) -> None:
    """Refuse a size that is not a positive whole number."""
    for name, value in sizes.items():
        if not (value > 0 and value % 1 == 0):  # NaN and infinity fail too
            raise ValueError(f"{name} = {value!r}: "
                             "must be a positive whole number")


def check_positive(**quantities: float) -> None:
    """Refuse a quantity that is not positive and finite."""
    for name, value in quantities.items():
        if not 0 < value < float("inf"):
            raise ValueError(f"{name} = {value!r}: must be positive and finite")


def check_choice(allowed: tuple[str, ...], **choices: str) -> None:
    """Refuse a word that is not among those allowed."""
    for name, value in choices.items():
        if value not in allowed:
            expected = " or ".join(map(repr, allowed))
            raise ValueError(f"{name} = {value!r}: must be {expected}")


def check_attention(n_q: int, n_kv: int, head_dim: int, L: int, S: int,
                    mask: str) -> None:
    """Refuse heads and tokens between which there is no attention."""
    check_whole(n_q=n_q, n_kv=n_kv, head_dim=head_dim, L=L, S=S)
    check_choice(("none", "causal"), mask=mask)
    if n_q % n_kv:
        raise ValueError(f"n_q = {n_q}: must be a multiple of n_kv ({n_kv})")
    if mask == "causal" and L > S:
        raise ValueError(f"L = {L}: under a causal mask the queries are among "
                         f"the S = {S} cached tokens, so at most {S}")
# --8<-- [end:checks]
