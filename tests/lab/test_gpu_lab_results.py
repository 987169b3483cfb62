"""What the lab says of a run, and what it stores."""

import json

import pytest
from lab_fakes import MACHINE, at, check_schema, fake_run, judged

torch = pytest.importorskip("torch")

from roofline_calc import attainable, gemm  # noqa: E402
from snippets import gpu_lab  # noqa: E402


def test_a_point_stands_beside_what_the_calculator_predicts():
    run = fake_run(B=100e9, P=1e12)
    run.points = [at(50e9, 1), at(50e9, 256)]
    results = judged(run)
    assert (results.bandwidth, results.peak) == (pytest.approx(100e9), pytest.approx(1e12))
    for measured, regime in zip(results.of("gemm-rotated"), ("memory-bound", "compute-bound"), strict=True):
        cost = gemm(measured.size, 3584, 3584)
        assert measured.cost == cost
        assert results.predicted(measured) == pytest.approx(attainable(cost.intensity, 1e12, 100e9))
        assert results.regime(measured) == regime
        assert measured.bandwidth == pytest.approx(50e9)
        assert results.fraction(measured) == pytest.approx(50e9 * cost.intensity / results.predicted(measured))


@pytest.mark.parametrize(("rate", "flag"), [(99e9, False), (109e9, False), (111e9, True), (300e9, True)])
def test_bytes_faster_than_memory_come_from_cache(rate, flag):
    run = fake_run(B=100e9)
    run.points = [at(50e9), at(rate, series="gemm-reused")]
    results = judged(run)
    assert [results.from_cache(measured) for measured in results.measurements] == [False, flag]
    row = next(line for line in gpu_lab.report(gpu_lab.as_json(run)) if line.startswith("    1"))
    assert row.split()[8:] == (["cache:reused"] if flag else [])


def test_a_wide_spread_is_said():
    run = fake_run()
    run.points = [at(50e9, spread=0.3), at(50e9, series="gemm-reused", spread=0.2)]
    results = judged(run)
    noisy, calm = results.measurements
    assert (results.flags(noisy, calm), results.flags(calm), results.flags(calm, noisy)) == \
        (["noisy"], [], ["noisy:reused"])


def test_the_widest_row_fits_a_terminal():
    run = fake_run(B=4.8e12, P=989.4e12)
    run.points = [at(4e12, 1024, spread=0.3), at(9e12, 1024, series="gemm-reused")]
    lines = list(gpu_lab.report(gpu_lab.as_json(run)))
    assert any(line.endswith("cache:reused noisy") for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_row_that_ctrl_c_cut_short_shows_no_second_figure():
    run = fake_run()
    run.points = [at(50e9), at(60e9, series="gemm-reused"), at(50e9, 2)]
    one, two = (line for line in gpu_lab.report(gpu_lab.as_json(run)) if line.split()[:1] in (["1"], ["2"]))
    assert len(one.split()) == len(two.split()) + 2


def test_a_row_that_is_cache_throughout_says_so_once():
    run = fake_run(B=100e9)
    run.points = [at(300e9, spread=0.3), at(300e9, series="gemm-reused", spread=0.3)]
    row = next(line for line in gpu_lab.report(gpu_lab.as_json(run)) if line.startswith("    1"))
    assert row.split()[8:] == ["cache", "noisy"]


def test_a_noisy_second_figure_makes_the_row_noisy():
    run = fake_run()
    run.points = [at(50e9), at(50e9, series="gemm-reused", spread=0.3)]
    row = next(line for line in gpu_lab.report(gpu_lab.as_json(run)) if line.startswith("    1"))
    assert row.split()[8:] == ["noisy"]


def test_the_table_is_aligned_and_says_where_the_regime_turns():
    run = fake_run(B=100e9, P=1e12)  # I* = 10
    run.points = [at(50e9, M, series) for M in (1, 8, 16, 1024) for series in ("gemm-rotated", "gemm-reused")]
    lines = list(gpu_lab.report(gpu_lab.as_json(run)))
    assert all(len(line) <= 80 for line in lines)
    head = next(i for i, line in enumerate(lines) if line.split()[:2] == ["M", "I"])
    table = lines[head:head + 6]
    assert [line.split()[0] for line in table] == ["M", "1", "8", "I*", "16", "1024"]
    assert len({len(line) for line in table}) == 1
    assert lines[-1] == "incomplete"


def test_units_are_decimal():
    run = fake_run(B=1008e9, P=165.2e12)
    run.points = [at(1008e9)]
    text = "\n".join(gpu_lab.report(gpu_lab.as_json(run)))
    assert "B = 1008 GB/s" in text
    assert "P = 165.2 TFLOP/s" in text
    assert "I* = P/B = 163.9 FLOP/byte" in text


def test_the_schema_holds_for_a_run_that_has_just_begun_and_for_one_with_points():
    run = fake_run()
    run.points = [at(50e9), at(60e9, series="gemm-reused")]
    check_schema(json.loads(json.dumps(gpu_lab.as_json(run))))
    check_schema(gpu_lab.as_json(gpu_lab.Run(MACHINE, "float32", (8, 8), "")))
