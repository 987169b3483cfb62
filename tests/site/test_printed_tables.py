"""What a program prints in aligned columns becomes a page's table."""

import pytest
from bs4 import BeautifulSoup
from calculator_process import ComputationError
from outputs import known
from printed_tables import are_in, shown
from pymdownx.superfences import SuperFencesException

PRINTED = """\
My model on a card: bf16
decode: one token

operator    FLOPs  regime          time
            GFLOP                    ms
gate <up>   1,947  compute-bound  11.78
attention       -  memory-bound   7.558
all, added    279                 29.47

weights    15.23 Gbyte, all of them
KV cache   7.516 Gbyte

fits
  at batch 1:  context up to 9
"""


def table(soup: BeautifulSoup) -> list[list[str]]:
    return [[cell.get_text() for cell in row.select("th, td")] for row in soup.select("tr")]


def test_the_columns_that_the_page_names_come_first():
    soup = BeautifulSoup(shown(PRINTED, "python x.py", ["time", "regime"]), "html.parser")
    assert table(soup) == [
        ["operator", "time ms", "regime", "FLOPs GFLOP"],
        ["gate <up>", "11.78", "compute-bound", "1,947"],
        ["attention", "7.558", "memory-bound", "-"],
        ["all, added", "29.47", "", "279"],
    ]
    assert [cell["scope"] for cell in soup.select("th")] == ["col"] * 4 + ["row"] * 3
    assert [cell.get("class") for cell in soup.select("td:nth-child(3)")] == [["compute"], ["memory"], None]
    assert ["style" in cell.attrs for cell in soup.select("thead th")] == [False, True, False, True]


def test_what_else_is_printed_stands_where_it_stood():
    soup = BeautifulSoup(shown(PRINTED, "python x.py", []), "html.parser")
    assert [part.name for part in soup.div.find_all(recursive=False)] == ["p", "pre", "table", "dl", "pre"]
    assert soup.code.text == "$ python x.py"
    assert [part.text for part in soup.select("dt, dd")] == [
        "weights", "15.23 Gbyte, all of them", "KV cache", "7.516 Gbyte",
    ]
    assert soup.select("pre")[1].text == "fits\n  at batch 1:  context up to 9"
    assert table(soup)[0] == ["operator", "FLOPs GFLOP", "regime", "time ms"]


def test_a_table_may_have_no_units():
    soup = BeautifulSoup(shown("model  layers  heads\na b        28      4\n", "x", []), "html.parser")
    assert table(soup) == [["model", "layers", "heads"], ["a b", "28", "4"]]


def test_a_short_name_does_not_break_at_its_hyphens():
    names = ["model", "qwen2.5-7b", "a-name-that-no-phone-has-room-for", "all of them"]
    printed = "\n".join(f"{name:<36}28  4" for name in names)
    soup = BeautifulSoup(shown(printed, "x", []), "html.parser")
    assert [name.get("class") for name in soup.select("tbody th")] == [["tied"], None, None]


def test_columns_are_told_from_words():
    assert are_in(PRINTED)
    assert not are_in("name, ms\na  b, 1\n")
    assert not are_in("one line  with  gaps\n")


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(ComputationError, match=r"`python x\.py` prints no table with a column 'tme'"):
        shown(PRINTED, "python x.py", ["tme"])
    with pytest.raises(SuperFencesException, match=r"frist is no option"):
        known("output-table", {"frist": "time"}, {}, {}, None)
    with pytest.raises(SuperFencesException, match=r"first is no option"):
        known("output", {"first": "time"}, {}, {}, None)


def test_csv_in_aligned_columns_is_csv():
    """What the explorer's program prints."""
    lines = ("operator,  GFLOP,      MB", "q_proj  ,  184.1,   822.1", "lm_head ,  279.0,  1169.7", "", "memory: fits")
    assert not are_in("\n".join(lines))
