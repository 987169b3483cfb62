"""The questions: what they call right is what the calculator says, and what a reader may type is understood."""

import re

import pages
import pytest
from quiz import QuizError, answers, checked, expressions_of, prose, read
from support import LANGUAGES, ROOT, mkdocs_build

QUESTION = """\
id = "q"
question = 'How much is `q_proj`, \\(I\\)?'
answer = 'gemm_intensity(256, 3584, 3584)'
stated = 224
tolerance = 0.01
unit = "FLOP/byte"
explain = 'At least {{ RIDGE }}.'

[[slip]]
value = 'gemm_intensity(256, 3584, 3584) / 2'
say = 'A factor of 2.'
"""
CHOICE = """\
id = "c"
question = 'Which?'
explain = 'So.'

[[option]]
text = 'memory'
holds = 'gemm_intensity(1, 3584, 3584) < RIDGE'
right = true

[[option]]
text = 'compute'
holds = 'gemm_intensity(1, 3584, 3584) >= RIDGE'
say = 'No.'
"""


@pytest.fixture
def worked_out(calculator):
    """A question's source as quiz.js gets it."""

    def work_out(source: str):
        question = read(source)
        return checked(question, answers(question, calculator))

    return work_out


def test_a_question_is_worked_out(worked_out, calculator):
    found = worked_out(QUESTION)
    assert (found["answer"], found["slips"][0]["value"]) == (224, 112)
    assert expressions_of(read(QUESTION))[-1] == "RIDGE"
    assert prose("`a < b` and \\(I\\), **so** {{ RIDGE }}", answers(read(QUESTION), calculator)) == (
        '<code>a &lt; b</code> and <span class="arithmatex">\\(I\\)</span>, <strong>so</strong> 165'
    )
    assert [option["right"] for option in worked_out(CHOICE)["options"]] == [True, False]


@pytest.mark.parametrize(
    ("source", "old", "new", "reason"),
    [
        (QUESTION, "stated = 224", "stated = 240", "q: states 240, but gemm_intensity.* is 224.0"),
        (QUESTION, "3584) / 2'", "3584) * 1.001'", "q: the slip .* cannot be told from the answer"),
        (QUESTION, "answer = 'gemm", "answer = 'gem", "gem_intensity.* cannot be computed: NameError"),
        (QUESTION, "tolerance", "tolerence", "q: missing or unknown: tolerance, tolerence"),
        (QUESTION, 'id = "q"', "id = q", "not TOML"),
        (CHOICE, "3584) < RIDGE", "3584) > RIDGE", "c: gemm_intensity.* is False, but the option says otherwise"),
        (CHOICE, "3584) >= RIDGE", "3584) < RIDGE", "c: gemm_intensity.* is True, but the option says otherwise"),
        (CHOICE, ">= RIDGE'\nsay = 'No.'", "< RIDGE'\nright = true", "c: one option must be right"),
    ],
)
def test_a_question_with_which_the_calculator_disagrees_is_refused(worked_out, source, old, new, reason):
    assert old in source
    with pytest.raises(QuizError, match=reason):
        worked_out(source.replace(old, new))


@pytest.mark.parametrize("stated", [61.793, 62.793])
def test_a_wrong_answer_stops_the_build(one_page, tmp_path, stated):
    """A question of the lesson, on a page of its own."""
    fence = re.compile(r'^```quiz\nid = "q-proj-64"\n.*?^```$', re.MULTILINE | re.DOTALL)
    found = fence.search(pages.source("en", "lesson.md"))
    assert "stated = 61.793" in found[0]
    with (one_page / "docs" / "en" / "index.md").open("a", encoding="utf-8") as page:
        page.write("\n" + found[0].replace("stated = 61.793", f"stated = {stated}") + "\n")
    done = mkdocs_build(one_page, tmp_path / "site")
    assert (done.returncode == 0) == (stated == 61.793), done.stderr
    assert (stated == 61.793) != (
        "q-proj-64: states 62.793, but gemm_intensity(64, 3584, 3584) is 61.79" in done.stderr
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lesson_asks_twelve_questions_and_more_in_its_sections(language):
    found = pages.questions(ROOT / "docs" / language)
    assert len(found) == len({question["id"] for question in found}) >= 12
    assert {question["kind"] for question in found} == {"number", "choice"}
    assert all(question["slip"] for question in found if question["kind"] == "number")
    sections, here = [], ""
    for kind, text in pages.structure(language, "lesson.md"):
        here = text if re.fullmatch("h[1-6]", kind) else here
        if kind == "quiz":
            sections.append(here)
    assert set(sections) >= {"mental-model", "gemm", "naive", "reconcile", "reading", "vllm"}
