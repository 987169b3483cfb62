"""Where labels go: beside their marks, off everything that is drawn, and somewhere even when there is no room."""

import itertools
import math
import random

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from roofline_calc.labels import FAR, GAP, LINE, Board, Box, Label, Spot, around, beside, leader, text_width

MARK = (100.0, 100.0, 4.0)


def named(text: str, mark: tuple[float, float, float] = MARK) -> Label:
    return Label(text, around(*mark), 10, "black", mark=mark)


def placed(board: Board, *labels: Label) -> list[Box]:
    for label in labels:
        if label.mark:
            board.mark(*label.mark)
    return [box for _, box in board.place(labels)]


def test_a_lone_label_stands_at_the_right_of_its_mark():
    box, = placed(Board(300, 200), named("kernel"))
    assert (box.align, box.y) == ("left", 100)
    assert box.x - box.width / 2 == pytest.approx(100 + 4 + 3)
    assert leader(MARK, box) is None


def test_a_label_at_the_right_edge_goes_to_the_left():
    box, = placed(Board(120, 200), named("a long name"))
    assert box.x + box.width / 2 < 96


def test_no_label_lies_on_a_line_a_mark_or_another_label():
    """Two dozen boards with marks and lines at random places, but the same in every run."""
    chance = random.Random(11)
    for _ in range(24):
        board = Board(400, 300)
        path = [(float(x), chance.uniform(40, 260)) for x in range(0, 401, 100)]
        board.line(path, 2)
        marks = [(chance.uniform(60, 340), chance.uniform(60, 240), 4.0) for _ in range(4)]
        boxes = placed(board, *(named(f"kernel {number}", mark) for number, mark in enumerate(marks)))
        line = np.concatenate([np.linspace(*ends, 200) for ends in itertools.pairwise(path)])
        for box in boxes:
            assert box.distances(line).min() >= 1
            assert all(box.distances(np.array([mark[:2]]))[0] >= 4 for mark in marks)
            assert box.points.min() >= GAP
            assert (box.points <= (400 - GAP, 300 - GAP)).all()
        for one, other in itertools.combinations(boxes, 2):
            assert one.distances(other.points).min() > 0


def test_a_label_nearer_to_another_mark_has_a_leader():
    marks = [(100.0 + 9 * step, 100.0, 4.0) for step in range(4)]
    boxes = placed(Board(300, 200), *(named(f"kernel {number}", mark) for number, mark in enumerate(marks)))
    for own, box in zip(marks, boxes, strict=True):
        gaps = [box.distances(np.array([mark[:2]]))[0] for mark in marks]
        assert leader(own, box) or gaps[marks.index(own)] == min(gaps)
    assert any(leader(own, box) for own, box in zip(marks, boxes, strict=True))


def test_a_leader_ends_short_of_its_mark_and_of_its_label():
    box = Box(("far",), 150, 140, 30, 12, 0, "left")
    start, end = leader(MARK, box) or pytest.fail("no leader")
    assert math.dist(start, MARK[:2]) == pytest.approx(4.5)
    assert box.distances(np.array([end]))[0] == pytest.approx(1.5)
    assert leader((135 - 4 - FAR + 0.1, 140, 4.0), box) is None


def test_where_there_is_no_room_the_least_crowded_spot_is_taken():
    box, = placed(Board(60, 20), named("a name that cannot fit anywhere", (30, 10, 4)))
    assert box.lines


@pytest.mark.parametrize(("text", "lines"), [
    ("q_proj, M = 256", ("q_proj,", "M = 256")),
    ("ridge point I* = 163.9", ("ridge point", "I* = 163.9")),
    ("拐点 I* = 163.9", ("拐点", "I* = 163.9")),
])
def test_a_label_breaks_at_a_space_but_never_about_an_equals_sign(text, lines):
    assert [variant for variant, _ in named(text).variants()] == [(text,), lines]
    assert [variant for variant, _ in named("M = 1").variants()] == [("M = 1",)]


def test_given_lines_are_kept():
    assert [variant for variant, _ in named("q_proj\no_proj").variants()] == [("q_proj", "o_proj")]
    box, = placed(Board(300, 200), named("q_proj\no_proj"))
    assert box.height == pytest.approx(2 * LINE * 10)


def test_a_turned_label_follows_its_line_on_the_better_side():
    board = Board(200, 200)
    board.line([(20, 20), (180, 180)], 2)
    label = Label("roof", beside((20, 20), (180, 180), (1, -1), 45, ideal=0.5), 10, "black")
    (_, box), = board.place([label])
    assert box.angle == 45
    assert box.x == pytest.approx(200 - box.y, abs=1)
    assert box.y > box.x
    assert box.seen_from(np.array([(100.0, 100.0)]))[0][1] == pytest.approx(4)


def test_a_chinese_character_is_a_square_and_bold_is_wider():
    assert text_width("访存受限", 10) == 40
    assert text_width("拐点 M", 10) == pytest.approx(20 + text_width(" M", 10))
    assert text_width("roof", 10, bold=True) > text_width("roof", 10) > 15


def test_the_order_of_equal_spots_decides_so_that_a_chart_is_the_same_every_time():
    spots = [Spot(100, 100, 1, 0, 5), Spot(100, 100, -1, 0, 5)]
    (_, first), = Board(300, 200).place([Label("kernel", spots, 10, "black")])
    (_, other), = Board(300, 200).place([Label("kernel", spots[::-1], 10, "black")])
    assert (first.align, other.align) == ("left", "right")
