"""Where the words of a chart go: each label tries its spots, the best first, against all that is drawn.

A chart's lines, marks and labels are points with a radius, in points from the picture's lower left corner. Matplotlib
cannot measure the reader's fonts, so a text is as wide as in DejaVu Sans, wider than the usual ones, and every Chinese
character a square.
"""

import functools
import itertools
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.font_manager import FontProperties, findfont, get_font
from numpy.typing import NDArray

__all__ = ["Board", "Box", "Label", "Spot", "around", "beside", "text_width"]

GAP = 2.0  # between a label and anything else
APART = 8.0  # between two labels side by side, or they would read as one line
FAR = 7.0  # from its mark, and a label needs a leader
DEAR, CROWDED = 20.0, 200.0  # costs a spot that is worth another try, and one that is not free, at least
ASCENT, DESCENT = 0.99, 0.31  # of a line, as shares of the size: a browser's box, which is in whole pixels
LINE = ASCENT + DESCENT
_STEP = 2.5  # between the points of a line

Points = NDArray[np.float64]  # rows of x, y, and in places the radius
Line = tuple[tuple[float, float], tuple[float, float]]
_Placed = dict[int, tuple[float, "Box"]]


@dataclass(frozen=True)
class Spot:
    """A place for a label: so far ``away`` from ``x, y`` on the side of ``(dx, dy)``, each from -1 to 1.

    Above or below (``dy`` 1 or -1), ``dx`` says how much of the label lies to the right rather than to the left.
    """

    x: float
    y: float
    dx: float
    dy: float
    away: float
    cost: float = 0
    angle: float = 0  # in degrees; dx and dy then count along the text and across it


@dataclass(frozen=True)
class Label:
    """A text and the spots that it may take. One that names a mark says where, and the mark's radius."""

    text: str
    spots: Sequence[Spot]
    size: float
    colour: str
    bold: bool = False
    mark: tuple[float, float, float] | None = None
    breaks: bool = True  # one line into two, if need be

    def variants(self) -> Iterator[tuple[tuple[str, ...], float]]:
        """As it is, or one line as two at more cost: broken at a space, but none about "=", near the middle."""
        yield tuple(self.text.split("\n")), 0
        spaces = [found.start() for found in re.finditer("(?<!=) (?!=)", self.text)]
        if self.breaks and spaces and "\n" not in self.text:
            at = min(spaces, key=lambda at: abs(2 * at - len(self.text)))
            yield (self.text[:at], self.text[at + 1:]), 4


@dataclass(frozen=True, eq=False)
class Box:
    """A label in its place: lines of text within a rectangle turned by an angle about its centre."""

    lines: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float
    angle: float
    align: str

    def seen_from(self, points: Points) -> Points:
        """How far right of the rectangle's sides, and above or below them, each point is: negative inside."""
        turn = math.radians(self.angle)
        across, up = (points - (self.x, self.y)).T
        along = np.abs(across * math.cos(turn) + up * math.sin(turn)) - self.width / 2
        beyond = np.abs(up * math.cos(turn) - across * math.sin(turn)) - self.height / 2
        return np.stack((along, beyond), axis=1)

    def distances(self, points: Points) -> NDArray[np.float64]:
        """From the rectangle to each point."""
        along, beyond = np.maximum(self.seen_from(points), 0).T
        found: NDArray[np.float64] = np.hypot(along, beyond)
        return found

    def placed(self, along: NDArray[np.float64], up: NDArray[np.float64]) -> Points:
        """Where offsets from the centre, along the text and across it, are in the picture."""
        turn = math.radians(self.angle)
        return np.stack((self.x + along * math.cos(turn) - up * math.sin(turn),
                         self.y + along * math.sin(turn) + up * math.cos(turn)), axis=-1)

    def reach(self) -> tuple[float, float]:
        """How far it reaches from its centre, across and up the picture."""
        across, up = abs(math.cos(math.radians(self.angle))), abs(math.sin(math.radians(self.angle)))
        return (across * self.width + up * self.height) / 2, (up * self.width + across * self.height) / 2

    def near(self, other: "Box") -> bool:
        """Whether two labels could be in each other's way."""
        (across, up), (further, higher) = self.reach(), other.reach()
        return (abs(self.x - other.x) < across + further + APART + GAP + 1
                and abs(self.y - other.y) < up + higher + APART + GAP + 1)

    @functools.cached_property
    def points(self) -> Points:
        """Points all over it, for what else is drawn to keep off."""
        return self._spread(self.width)

    @functools.cached_property
    def wider_points(self) -> Points:
        """The same, and farther at its left and right, for other labels."""
        return self._spread(self.width + 2 * APART)

    def _spread(self, width: float) -> Points:
        sides = ((np.arange(count + 1) / count - 0.5) * side
                 for side in (width, self.height) for count in (math.ceil(side / 4),))
        along, up = np.meshgrid(*sides)
        return self.placed(along.ravel(), up.ravel())

    def nearest_to(self, x: float, y: float) -> tuple[float, float]:
        """The point of the (upright) rectangle that is nearest."""
        return (min(max(x, self.x - self.width / 2), self.x + self.width / 2),
                min(max(y, self.y - self.height / 2), self.y + self.height / 2))


@dataclass
class Board:
    """What is drawn on a picture of a width and a height, and where its labels go."""

    width: float
    height: float
    _lines: list[Points] = field(default_factory=list)
    _marks: list[tuple[float, float, float]] = field(default_factory=list)

    def line(self, path: Sequence[tuple[float, float]], thickness: float) -> None:
        """A line through these points is drawn: no label lies on it."""
        for (x, y), (further, higher) in itertools.pairwise(path):
            steps = max(2, math.ceil(math.hypot(further - x, higher - y) / _STEP) + 1)
            at = np.stack((np.linspace(x, further, steps), np.linspace(y, higher, steps)), axis=1)
            self._lines.append(np.column_stack((at, np.full(steps, thickness / 2))))

    def mark(self, x: float, y: float, radius: float) -> None:
        """A mark is drawn: no label lies on it, and no other mark's label is nearer to it than to its own."""
        self._marks.append((x, y, radius))

    def place(self, labels: Sequence[Label]) -> list[tuple[Label, Box]]:
        """Each label where it costs least, given all others; one that has no free spot takes the least crowded.

        Whoever finds none, or one far from its mark, has the first choice in another try, and the best try counts.
        """
        lines, marks = np.concatenate([*self._lines, np.empty((0, 3))]), np.array(self._marks).reshape(-1, 3)
        alone = functools.lru_cache(None)(functools.partial(self._alone, np.concatenate((lines, marks)), marks))
        choices = [sorted(_choices(label), key=lambda choice: choice[0]) for label in labels]
        order, least = list(range(len(labels))), math.inf
        first: list[int] = []
        best: _Placed = {}
        for _ in labels:
            placed = _tried(labels, choices, order, alone)
            if (total := sum(cost for cost, _ in placed.values())) < least:
                best, least = placed, total
            dear = [number for number in order if placed[number][0] >= DEAR and number not in first]
            if not dear:
                break
            first.insert(0, max(dear, key=lambda number: placed[number][0]))
            order = first + [number for number in range(len(labels)) if number not in first]
        return [(label, best[number][1]) for number, label in enumerate(labels)]

    def _alone(self, drawn: Points, marks: Points, box: Box, mark: tuple[float, float, float] | None) -> float:
        """What a label would cover, by how much it would stick out, and whether it could be taken for another's."""
        across, up = box.reach()
        out = max(across - box.x, box.x + across - self.width, up - box.y, box.y + up - self.height) + GAP
        if out > 0:
            return 4 * CROWDED + 10 * out
        crowd = _covered(box, drawn)
        if mark is None or crowd:
            return crowd
        strangers = marks[np.any(marks[:, :2] != mark[:2], axis=1)]
        if line := leader(mark, box):  # which shows whose it is, but must pass by what is there
            return math.dist(*line) + _crossed(line, strangers)
        own = float(box.distances(np.array([mark[:2]]))[0]) - mark[2]
        nearest = np.min(box.distances(strangers[:, :2]) - strangers[:, 2], initial=math.inf)
        return CROWDED if nearest < 2 * max(own, 2) else 0


def _tried(labels: Sequence[Label], choices: Sequence[list[tuple[float, Box]]], order: Sequence[int],
           alone: Callable[[Box, tuple[float, float, float] | None], float]) -> _Placed:
    """What each label costs and where it goes, if they choose in this order until none would choose anew."""
    placed: _Placed = {}
    for _ in range(3):
        before = dict(placed)
        for number in order:
            mark, fewest = labels[number].mark, math.inf
            others = [(labels[other].mark, box) for other, (_, box) in placed.items() if other != number]
            texts = _round([box.points for _, box in others], 1)
            lines = _round([np.linspace(*line, 12) for other in others if (line := leader(*other))], 1)
            for cost, box in choices[number]:
                if cost >= fewest:
                    break
                if (cost := cost + alone(box, mark)) < fewest:
                    line = leader(mark, box)
                    cost += _covered(box, _round([other.wider_points for _, other in others if box.near(other)], 1))
                    cost += _covered(box, lines) + (_crossed(line, texts) if line else 0)
                    if cost < fewest:
                        fewest, placed[number] = cost, (cost, box)
        if placed == before:
            break
    return placed


def _covered(box: Box, points: Points) -> float:
    """What it costs that a label lies on some of these points."""
    if not len(points):
        return 0
    covered = np.count_nonzero(np.all(box.seen_from(points[:, :2]) < (points[:, 2] + GAP)[:, None], axis=1))
    return float(CROWDED + covered if covered else 0)


def _crossed(line: Line, points: Points) -> float:
    """What it costs that a leader passes over some of these points."""
    distances = np.hypot(*(np.linspace(*line, 12)[:, None, :] - points[None, :, :2]).transpose(2, 0, 1))
    return CROWDED if np.any(distances < points[:, 2] + GAP) else 0


def leader(mark: tuple[float, float, float] | None, box: Box) -> Line | None:
    """A thin line from a mark to its label, where the label is too far off to be seen as its own."""
    if mark is None:
        return None
    x, y, radius = mark
    end = box.nearest_to(x, y)
    distance = math.hypot(end[0] - x, end[1] - y)
    if distance < radius + FAR:
        return None
    start, stop = ((x + share * (end[0] - x), y + share * (end[1] - y))
                   for share in ((radius + 0.5) / distance, 1 - 1.5 / distance))
    return start, stop


def around(x: float, y: float, radius: float) -> list[Spot]:
    """Spots about a mark: to its right if possible, near if possible."""
    sides = ((1, 0, 0), (-1, 0, 0.5), (1, -0.8, 1), (1, 0.8, 1), (-1, 0.8, 1.2), (-1, -0.8, 1.4), (0, -1, 2), (0, 1, 2),
             (0.5, -1, 2.1), (0.5, 1, 2.1), (0.9, -1, 2.2), (0.9, 1, 2.2), (-0.5, 1, 2.3), (-0.5, -1, 2.3),
             (-0.9, 1, 2.4), (-0.9, -1, 2.4))
    return [Spot(x, y, dx, dy, radius + away, cost + away)
            for away in (3, 5, 9, 14, 20, 28, 38, 50) for dx, dy, cost in sides]


def beside(start: tuple[float, float], end: tuple[float, float], sides: Sequence[float], angle: float,
           ideal: float) -> list[Spot]:
    """Spots along a line, on these sides of it (1: above, or right), best close by and near a share of its length."""
    shares = [step / 40 for step in range(41)]
    upright = start[0] == end[0]
    return [Spot(start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]),
                 side if upright else 0, 0 if upright else side, away, 12 * abs(share - ideal) + 2 * rank + away, angle)
            for away in (4, 8, 12, 18) for share in shares for rank, side in enumerate(sides)]


def _choices(label: Label) -> Iterator[tuple[float, Box]]:
    for lines, extra in label.variants():
        width = max(text_width(line, label.size, label.bold) for line in lines)
        height = LINE * label.size * len(lines)
        for spot in label.spots:
            turn = math.radians(spot.angle)
            along = spot.dx * (width / 2 + (spot.away if abs(spot.dy) < 1 else 0))
            up = spot.dy * (height / 2 + spot.away * (1 if abs(spot.dy) == 1 else 0.5))
            x = spot.x + along * math.cos(turn) - up * math.sin(turn)
            y = spot.y + along * math.sin(turn) + up * math.cos(turn)
            align = "center" if spot.dx == 0 or spot.angle else "left" if spot.dx > 0 else "right"
            yield spot.cost + extra, Box(lines, x, y, width, height, spot.angle, align)


def _round(points: Sequence[Points], radius: float) -> Points:
    """All of these points, with a radius."""
    found = np.concatenate([np.empty((0, 2)), *points])
    return np.column_stack((found, np.full(len(found), radius)))


@functools.lru_cache(maxsize=1024)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """How wide a line of text is at most, in points."""
    squares = [letter for letter in text if unicodedata.east_asian_width(letter) in "WF"]
    font = get_font(findfont(FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")))
    font.set_size(size, 72)
    font.set_text("".join(letter for letter in text if letter not in squares), 0)
    return len(squares) * size + float(font.get_width_height()[0]) / 64
