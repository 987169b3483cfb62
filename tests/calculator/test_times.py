"""The three times of a step: the lower bound, kernel by kernel, no overlap; and what is compulsory."""

import dataclasses
from fractions import Fraction

import pytest
from longhand import KV_TOKEN, READ, B, P, decode, kernel_by_kernel, no_overlap
from small_models import moe, small, windowed

from roofline_calc import ACCELERATORS, MODELS, QWEN, RTX_4090, Accelerator, Cost, Precision, Stored, analyse
from roofline_calc.compulsory import kv_traffic

TOY = Accelerator(name="toy", bandwidth=1, memory=1000, peak={"bf16": 10, "fp8": 40}, source="made up")


@pytest.mark.parametrize(("batch", "context"), [(1, 2048), (64, 2048), (256, 512)])
def test_the_lesson_s_step_longhand(batch, context):
    report, kernels = analyse(QWEN.decode_kernels(batch, context), RTX_4090), decode(batch, context)
    assert report.kernel_by_kernel == pytest.approx(float(kernel_by_kernel(kernels)), rel=1e-12)
    assert report.no_overlap == pytest.approx(float(no_overlap(kernels)), rel=1e-12)
    compute = sum(flops for flops, _ in kernels) / P
    # Weights once, each cached token but the new one read, the new one written, a row of 3,584 of the embedding.
    moved = 2 * READ + batch * context * KV_TOKEN + batch * 3584 * 2
    assert report.lower_bound == pytest.approx(float(max(compute, Fraction(moved) / B)), rel=1e-12)


def test_headline_times():
    report = analyse(QWEN.decode_kernels(256, 512), RTX_4090)
    times = report.lower_bound, report.kernel_by_kernel, report.no_overlap
    assert [f"{1e3 * seconds:.1f}" for seconds in times] == ["22.2", "29.5", "45.2"]
    assert [f"{256 / seconds:,.0f}" for seconds in times[:2]] == ["11,515", "8,686"]


def test_what_is_compulsory():
    step = small().step({(3, 10): 2, (4, 4): 1})
    token = 2 * 3 * 7 * 5 * 2
    assert step.compulsory == {
        "weights": 2 * (small().params - 11 * 17), "input": 10 * 11 * 2,
        "KV read": 2 * 7 * token, "KV written": 10 * token,
    }
    assert step.whole == Cost(sum(cost.flops for cost in step.values()), step.compulsory)
    without = small().step([(4, 4)], sampled=0)
    assert without.compulsory["weights"] == 2 * (small().params - 2 * 11 * 17)
    assert small(intermediate=12).card(3).step([(1, 1)]).compulsory["input"] == pytest.approx(11 * 2 / 3)


def test_a_window_reads_and_writes_its_last_tokens():
    """Three full layers, two in which a token sees itself and seven before it."""
    token = 2 * 3 * 7 * 2
    read, written = kv_traffic(windowed(), {(1, 100): 1}, Precision()).values()
    assert (read, written) == ((3 * 99 + 2 * 7) * token, 5 * token)
    read, written = kv_traffic(windowed(), {(100, 100): 1}, Precision()).values()
    assert (read, written) == (0, (3 * 100 + 2 * 8) * token)
    read, written = kv_traffic(windowed(), {(10, 100): 2}, Precision()).values()
    assert (read, written) == (2 * (3 * 90 + 2 * 7) * token, 2 * (3 * 10 + 2 * 8) * token)


def test_of_the_experts_those_touched_are_compulsory():
    one = moe().step([(1, 1)]).compulsory["weights"]
    assert one == 2 * (moe().params - 11 * 17 - 3 * (8 - 2) * 3 * 11 * 3)


def test_each_product_runs_at_the_peak_of_its_type():
    step = small().step([(1, 1)], precision=Precision(modules={"down_proj": Stored(1, "fp8")}, attention="fp8"))
    rows = {row.operator: row for row in analyse(step, TOY).rows}
    assert rows["down_proj"].seconds == max(rows["down_proj"].cost.flops / 40, rows["down_proj"].cost.bytes)
    report = analyse(step, dataclasses.replace(TOY, bandwidth=1e9))
    narrow = sum(step[name].flops for name in ("down_proj", "attention"))
    wide = sum(cost.flops for cost in step.values()) - narrow
    assert report.lower_bound == report.compute_seconds == pytest.approx(narrow / 40 + wide / 10)
    without = analyse(step, dataclasses.replace(TOY, bandwidth=1e9, peak={"bf16": 10}))
    assert without.lower_bound == pytest.approx((narrow + wide) / 10)  # the card has no FP8: weights are widened


def test_element_wise_operators_move_no_bound():
    plain, unfused = (analyse(moe().step([(1, 9)], elementwise=more), TOY) for more in (False, True))
    assert unfused.lower_bound == plain.lower_bound
    assert unfused.kernel_by_kernel > plain.kernel_by_kernel


def test_a_mapping_of_kernels_is_bound_by_its_arithmetic_alone():
    report = analyse({"q_proj": Cost(40, {"X": 100})}, TOY)
    assert (report.lower_bound, report.kernel_by_kernel, report.no_overlap) == (4, 100, 104)


@pytest.mark.parametrize("key", list(MODELS))
@pytest.mark.parametrize("card", ["rtx-4090", "h200", "t4", "tpu-v5e", "generic-cpu"])
def test_the_times_are_in_order_over_the_catalogue(key, card):
    accelerator, model = ACCELERATORS[card], MODELS[key]
    dtype = "bf16" if "bf16" in accelerator.peak else "fp16"
    for batch, L, S in [(1, 1, 1), (1, 1, 100), (8, 1, 32768), (512, 1, 2048), (1, 4096, 4096), (4, 512, 8192)]:
        for fused in (False, True):
            report = analyse(model.step({(L, S): batch}, fused=fused), accelerator, dtype)
            assert 0 < report.lower_bound <= report.kernel_by_kernel <= report.no_overlap


def test_a_lower_bound_takes_the_cheaper_form_whatever_form_runs():
    model, card = MODELS["deepseek-v3"], ACCELERATORS["h200"]
    reports = [analyse(model.step({(8192, 8192): 1}, mla=form), card) for form in (None, "absorbed", "expanded")]
    assert len({report.lower_bound for report in reports}) == 1
    assert reports[1].kernel_by_kernel > reports[0].kernel_by_kernel == reports[2].kernel_by_kernel
