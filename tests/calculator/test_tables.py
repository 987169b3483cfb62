"""Tables: scaled units, aligned columns, CSV."""

import pytest

from roofline_calc.tables import Column, csv_table, scaled, significant, text_table

COLUMNS = (
    Column("name", "name"), Column("rate", "rate", "FLOP/s", True), Column("n", "count", missing="never"),
    Column("ok", "fits"),
)
ROWS = [
    {"name": "slow", "rate": 2.5e9, "n": 1000, "ok": True},
    {"name": "fast", "rate": 1.234567e12, "n": None, "ok": False},
    {"name": "none", "rate": 0, "n": 7, "ok": True},
]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0, "0"), (1, "1"), (1234567, "1,234,567"), (2.0, "2"), (1.5, "1.500"), (12.3456, "12.35"),
     (123.456, "123.5"), (1234.56, "1,235"), (0.00012345, "0.0001234"), (-2.5, "-2.500")],
)
def test_significant_digits(value, text):
    assert significant(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 s"), (1, "1 s"), (999, "999 s"), (1000, "1 ks"), (1e-3, "1 ms"), (25.5e-6, "25.5 µs"), (3e-12, "0.003 ns"),
     (1.5e21, "1500 Es")],
)
def test_a_prefix_for_each_size(value, text):
    assert scaled(value, "s") == text


def test_one_prefix_for_a_whole_column():
    assert text_table(COLUMNS, ROWS, {}).splitlines() == [
        "name     rate  count  fits",
        "      GFLOP/s",
        "slow    2.500  1,000  yes",
        "fast    1,235  never  no",
        "none        0      7  yes",
    ]


def test_words_are_painted_without_breaking_the_columns():
    plain, painted = (text_table(COLUMNS, ROWS, paint) for paint in ({}, {"slow": "34"}))
    assert painted.replace("\x1b[34m", "").replace("\x1b[0m", "") == plain
    assert "\x1b[34mslow\x1b[0m" in painted


def test_a_table_without_units_has_no_line_for_them():
    assert text_table(COLUMNS[:1], ROWS[:1], {}) == "name\nslow"


def test_csv_keeps_base_units():
    assert csv_table(COLUMNS, ROWS).splitlines() == [
        "name,rate [FLOP/s],n,ok", "slow,2500000000.0,1000,True", "fast,1234567000000.0,,False", "none,0,7,True",
    ]
