"""The build's own functions, called without MkDocs."""

import html
import re

import computed
import expressions
import jieba
import languages
import maths
import outputs
import pytest
import search_index
from bs4 import BeautifulSoup
from evaluate import evaluate
from support import ROOT


def fill(markdown: str, **options) -> str:
    return expressions.fill(markdown, lambda fields: [evaluate(field) for field in fields], **options)


def test_a_number_shows_its_value_and_its_expression():
    tag = BeautifulSoup(fill("I is {{ gemm_intensity(256, 3584, 512):.1f }}."), "html.parser").data
    assert tag.text == "162.9"
    assert float(tag["value"]) == pytest.approx(1792 / 11, rel=1e-12)
    assert tag["title"] == "gemm_intensity(256, 3584, 512)"
    assert tag["tabindex"] == "0"


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        (r"\(I = {{ RIDGE }}\)", r"\(I = 165\)"),
        ("\\[\nI = {{ RIDGE }}\n\\]", "\\[\nI = 165\n\\]"),
        ("## Ridge {{ RIDGE }}", "## Ridge 165"),
        ("![ridge {{ [RIDGE][0] }}](a.svg)", "![ridge 165](a.svg)"),
        ('<p title="{{ RIDGE }}">', '<p title="165">'),
        ('??? question "Why {{ RIDGE }}?"', '??? question "Why 165?"'),
        ("`{{ RIDGE }}`", "`{{ RIDGE }}`"),
        ("```python\nf'{{ RIDGE }}'\n```", "```python\nf'{{ RIDGE }}'\n```"),
        ("<!-- {{ RIDGE }} -->", "<!-- {{ RIDGE }} -->"),
    ],
)
def test_a_number_is_bare_where_an_element_would_break_and_untouched_in_code(markdown, shown):
    assert fill(markdown) == shown


def test_a_comparison_in_an_expression_is_not_mistaken_for_a_tag():
    assert ">True<" in fill("{{ 1 < RIDGE }} and <b>bold</b>")


def test_a_bar_in_an_expression_does_not_split_a_table_cell():
    row = fill("| {{ 1 | 2 }} |")
    assert row.count("|") == 2
    assert html.unescape(BeautifulSoup(row, "html.parser").data["title"]) == "1 | 2"


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("gemm_intensty(1, 2, 3)", "NameError: name 'gemm_intensty' is not defined"),
        ("gemm_intensity(0, 2, 3):.1f", "ValueError: M = 0: must be a positive whole number"),
        ("gemm_crossing(3584, 128, 165):.1f", "TypeError: unsupported format string passed to NoneType"),
        ("1 +", "SyntaxError"),
        ("1 }{ 2", "SyntaxError: not one f-string replacement field"),
    ],
)
def test_an_expression_that_fails_names_its_line_and_its_cause(field, reason):
    with pytest.raises(expressions.ExpressionError) as failed:
        fill(f"one\n\n{{{{ {field} }}}}", first_line=5)
    assert str(failed.value).startswith(f"line 7: {{{{ {field} }}}} cannot be computed: {reason}")


def test_the_digest_follows_the_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(computed, "ROOT", tmp_path)
    (tmp_path / "snippets").mkdir()
    module = tmp_path / "snippets" / "program.py"
    module.write_text("print(1)")
    assert computed.python("snippets/program.py") == "1\n"
    module.write_text("print(2)")
    assert computed.python("snippets/program.py") == "2\n"
    (tmp_path / "snippets" / "notes.txt").write_text("not a source")
    before = computed.source_digest()
    (tmp_path / "snippets" / "data.toml").write_text("")
    assert computed.source_digest() != before


def test_an_output_block_runs_python_and_nothing_else():
    assert outputs.output_of("python -c 'print(7)'") == "7\n"
    with pytest.raises(computed.ComputationError, match=r"^an output block holds one command .* not 'rm -rf site'$"):
        outputs.output_of("rm -rf site")
    with pytest.raises(computed.ComputationError, match=r"ended with status 3:\noh$"):
        outputs.output_of("""python -c 'import sys; print("oh", file=sys.stderr); sys.exit(3)'""")


def test_maths_becomes_mathml():
    content = maths.typeset('<p><span class="arithmatex">\\(n_q &lt; 2\\)</span></p>')
    assert content.startswith("<p><math>")
    assert "arithmatex" not in content
    assert 'display="block"' in maths.mathml(r"\frac{P}{B}", display=True)


def test_an_unknown_macro_is_refused():
    with pytest.raises(maths.MathsError, match=r"cannot typeset .*\\intensty"):
        maths.mathml(r"\intensty", display=False)


def test_the_maths_font_has_the_letters_that_formulas_show():
    used = maths.characters_of(r"<p>Z</p><math><mi>M</mi><mo>≈</mo><mi>h</mi></math>")
    assert used == {"M", "\U0001d440", "≈", "h", "\u210e"}
    assert maths.font(frozenset("I"))[:4] == b"wOF2"


def test_twins_link_to_each_other_and_keep_the_page():
    chinese = languages.twins("lesson/", "zh", "https://site.example/")
    english = languages.twins("lesson/", "en", "https://site.example/en/")
    assert [twin["address"] for twin in chinese] == ["https://site.example/lesson/", "https://site.example/en/lesson/"]
    assert [twin["address"] for twin in english] == [twin["address"] for twin in chinese]
    assert [twin["link"] for twin in chinese] == ["./", "../en/lesson/"]
    assert [twin["link"] for twin in english] == ["../../lesson/", "./"]
    assert [twin["link"] for twin in languages.twins("./", "zh", "https://site.example/")] == [".", "en/"]


def test_what_was_computed_is_kept_for_the_next_build_of_the_same_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(computed, "ROOT", tmp_path)
    (tmp_path / "snippets").mkdir()
    counted = tmp_path / "snippets" / "counted.py"
    counted.write_text("open('runs', 'a').write('.'); print('é')")
    for _ in range(2):
        monkeypatch.setattr(computed, "_runs", {})  # as in a new process
        assert computed.python("snippets/counted.py") == "é\n"
    assert (tmp_path / "runs").read_text() == "."
    counted.write_text("print(2)")
    assert computed.python("snippets/counted.py") == "2\n"


def test_a_part_of_the_dictionary_cuts_the_pages_as_the_whole_does():
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "zh").glob("*.md")))
    runs = re.findall(r"[\u4e00-\u9fff]+", text)
    assert len(runs) > 1000
    part = jieba.Tokenizer(str(search_index.dictionary(search_index.characters_of([ROOT / "docs" / "zh"]))))
    whole = jieba.Tokenizer()
    assert [part.lcut(run) for run in runs] == [whole.lcut(run) for run in runs]
    assert part.total == whole.total
    assert len(part.FREQ) < len(whole.FREQ) / 3


def test_a_command_prints_the_same_run_among_others_as_alone():
    commands = ["python snippets/own_model.py", "python -m roofline_calc ops --help", "python snippets/calculator.py"]
    together = outputs.run_ahead(commands)
    assert together == {command: computed.python(*command.split()[1:]) for command in commands}
    assert outputs.run_ahead([*commands, "python -m roofline_calc nonsense"]) == {}  # then each is run alone


def test_columns_become_a_table():
    printed = "      TFLOP/s  limit\na  b     1.5  <memory>\nc        2    compute\nsum 3.5\n"
    html = outputs.table(printed, "python x.py")
    soup = BeautifulSoup(html, "html.parser")
    assert [cell.text for cell in soup.select("thead > tr > *")] == ["", "TFLOP/s", "limit"]
    assert [[cell.text for cell in row.select("th, td")] for row in soup.select("tbody tr")] == [["c", "2", "compute"]]
    assert [line.text for line in soup.select("p")] == ["a  b  1.5  <memory>", "sum 3.5"]
    assert soup.caption.text == "$ python x.py"
