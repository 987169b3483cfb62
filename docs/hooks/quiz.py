"""A fenced block ```` ```quiz ```` is a question whose answer the calculator checks.

The block is TOML. ``question``, ``explain``, and what ``say`` and ``text`` hold, are prose: code, maths and
``{{ expressions }}`` work in it. Everything else is the same in both languages:

    id = "q-proj-64"                                  # its anchor, and the name of the reader's progress
    answer = 'gemm_intensity(64, 3584, 3584)'         # a number: an expression of roofline_calc
    stated = 61.79                                    # worked out by hand; if the calculator disagrees, the build stops
    tolerance = 0.01                                  # relative
    unit = "FLOP/byte"
    [[slip]]
    value = 'gemm_intensity(64, 3584, 3584) / 2'      # what a typical mistake gives, and what to say to it

or, in place of answer, stated, tolerance, unit and slips, options of which one is ``right = true``; ``holds`` is an
expression that says so too. Without JavaScript a question is a collapsible block; assets/quiz.js makes it answer.
"""

import html
import json
import re
import tomllib
from functools import partial
from typing import Any

from calculator_process import Calculator, ComputationError
from expressions import FIELD
from pymdownx.superfences import SuperFencesException

LOCAL = ("question", "explain", "text", "say")  # the keys that hold prose
WORDS = {"zh": {"answer": "答案：", "options": "选项："}, "en": {"answer": "Answer: ", "options": "Options: "}}
KEYS = {
    "number": {"id", "question", "explain", "answer", "stated", "tolerance", "unit", "slip"},
    "choice": {"id", "question", "explain", "option"},
}


Answers = dict[str, dict[str, str]]  # by expression, as evaluate.evaluate gives them


class QuizError(Exception):
    """A question is malformed, or the calculator disagrees with it."""


def read(source: str) -> dict[str, Any]:
    """A question from its TOML.

    Raises:
        QuizError: a key is missing or unknown.
    """
    try:
        question = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise QuizError(f"not TOML: {error}") from error
    question["kind"] = "choice" if "option" in question else "number"
    keys = KEYS[question["kind"]]
    if wrong := keys.symmetric_difference(question.keys() - {"kind"}) - {"slip"}:
        raise QuizError(f"{question.get('id', 'a question')}: missing or unknown: {', '.join(sorted(wrong))}")
    question.setdefault("slip", [])
    return question


def expressions_of(question: dict[str, Any]) -> list[str]:
    """What the calculator has to work out for a question."""
    asked = [question["answer"]] if "answer" in question else []
    asked += [item["value"] for item in question["slip"]] + [item["holds"] for item in question.get("option", [])]
    return asked + [field.strip() for text in prose_of(question) for field in FIELD.findall(text)]


def prose_of(question: dict[str, Any]) -> list[str]:
    """Every text of a question."""
    items = [question, *question["slip"], *question.get("option", [])]
    return [item[key] for item in items for key in LOCAL if key in item]


def answers(question: dict[str, Any], calculator: Calculator) -> Answers:
    """What the calculator says to each expression of a question.

    Raises:
        QuizError: an expression cannot be computed.
    """
    found = {expression: calculator.number(expression) for expression in expressions_of(question)}
    for expression, answer in found.items():
        if "error" in answer:
            raise QuizError(f"{expression} cannot be computed: {answer['error']}")
    return found


def checked(question: dict[str, Any], found: Answers) -> dict[str, Any]:
    """The question as quiz.js needs it, worked out.

    Raises:
        QuizError: the calculator disagrees with the stated answer or the right option, or a slip passes for right.
    """
    name = question["id"]
    worked: dict[str, Any] = {"id": name, "kind": question["kind"]}
    if question["kind"] == "choice":
        for option in question["option"]:
            holds = found[option["holds"]]["value"]
            if holds != str(option.get("right", False)):
                raise QuizError(f"{name}: {option['holds']} is {holds}, but the option says otherwise")
        if sum(option.get("right", False) for option in question["option"]) != 1:
            raise QuizError(f"{name}: one option must be right")
        worked["options"] = [
            {
                "text": prose(option["text"], found),
                "right": option.get("right", False),
                "say": prose(option.get("say", ""), found),
            }
            for option in question["option"]
        ]
        return worked
    answer, tolerance = float(found[question["answer"]]["value"]), question["tolerance"]
    if abs(question["stated"] / answer - 1) > tolerance:
        raise QuizError(f"{name}: states {question['stated']}, but {question['answer']} is {answer}")
    slips: list[dict[str, Any]] = [
        {"value": float(found[slip["value"]]["value"]), "say": prose(slip["say"], found)} for slip in question["slip"]
    ]
    for slip, source in zip(slips, question["slip"], strict=True):
        if abs(slip["value"] / answer - 1) <= 2 * tolerance:
            raise QuizError(f"{name}: the slip {source['value']} cannot be told from the answer")
    return worked | {"answer": answer, "tolerance": tolerance, "unit": question["unit"], "slips": slips}


def prose(text: str, found: Answers) -> str:
    """A line of prose as HTML: code, bold, maths, expressions."""
    text = FIELD.sub(lambda field: found[field[1].strip()]["text"], text)
    parts = re.split(r"(`[^`]+`|\\\(.*?\\\)|\*\*.+?\*\*)", text)
    return "".join(_inline(part) for part in parts)


def _inline(part: str) -> str:
    if part.startswith("`") and part.endswith("`"):
        return f"<code>{html.escape(part[1:-1])}</code>"
    if part.startswith("\\("):
        return f'<span class="arithmatex">{html.escape(part)}</span>'
    if part.startswith("**"):
        return f"<strong>{html.escape(part[2:-2])}</strong>"
    return html.escape(part, quote=False)


def fence(page_language: str, calculator: Calculator) -> dict[str, Any]:
    """The fenced block, as SuperFences wants it named."""
    return {"name": "quiz", "class": "quiz", "format": partial(quiz_block, page_language, calculator)}


def quiz_block(page_language: str, calculator: Calculator, source: str, *_: Any, **__: Any) -> str:
    """Format one question, as SuperFences asks."""
    try:
        question = read(source)
        found = answers(question, calculator)
        worked = checked(question, found)
        words = WORDS[page_language]
        if worked["kind"] == "choice":
            right = next(option["text"] for option in worked["options"] if option["right"])
            listed = " / ".join(option["text"] for option in worked["options"])
            asked = f"<p class='options'>{words['options']}{listed}</p>"
        else:
            right, asked = f"{_shown(worked['answer'])} {worked['unit']}".strip(), ""
        # In a script element only "</" would be misread.
        data = json.dumps(worked, ensure_ascii=False).replace("</", "<\\/")
        return (
            f'<div class="quiz" id="quiz-{worked["id"]}" data-mount="quiz"><details class="question">'
            f"<summary>{prose(question['question'], found)}</summary>{asked}"
            f"<p>{words['answer']}<strong>{right}</strong></p><p>{prose(question['explain'], found)}</p></details>"
            f'<script type="application/json">{data}</script></div>'
        )
    except (QuizError, ComputationError) as error:
        raise SuperFencesException(f"```quiz: {error}") from error


def _shown(value: float) -> str:
    return f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}"
