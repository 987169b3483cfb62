"""The longhand kernels agree with the calculator's."""

from longhand import FFN, KV, Q, attend, linear

from roofline_calc import attention, gemm


def test_the_longhand_and_the_calculator_agree():
    """The kernels above, beside those of roofline_calc."""
    for M, shape in [(1, Q), (256, KV), (519, FFN)]:
        assert (gemm(M, *shape).flops, gemm(M, *shape).bytes) == linear(M, *shape)
    for L, S in [(1, 2048), (26, 2048), (512, 512)]:
        for mask in ("none", "causal"):
            cost = attention(28, 4, 128, L, S, mask=mask, passes=4)
            assert (cost.flops, cost.bytes) == attend(L, S, causal=mask == "causal", passes=4)
