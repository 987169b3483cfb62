"""The build's own functions, called without MkDocs."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import calculator_process
import expressions
import jieba
import languages
import listings
import maths
import outputs
import pytest
import search_index
import styles
import typography
from bs4 import BeautifulSoup
from calculator_process import Calculator
from evaluate import evaluate
from project import PageError
from support import ROOT


def fill(markdown: str, **options) -> str:
    return expressions.fill(markdown, evaluate, **options)


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


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A calculator over a copy of the sources, for a test to edit."""
    for part in ("roofline_calc", "snippets", "docs/hooks/programs", "requirements"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(calculator_process, "ROOT", tmp_path)
    calculator = Calculator()
    yield calculator
    calculator.close()


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_an_answer_follows_the_sources_from_one_build_to_the_next(elsewhere, tmp_path):
    operators, program = tmp_path / "roofline_calc/operators.py", tmp_path / "snippets/program.py"
    program.write_text("import roofline_calc; print(roofline_calc.gemm_intensity(256, 3584, 3584))")
    elsewhere.look()
    assert elsewhere.number("gemm_intensity(256, 3584, 3584)")["text"] == "224.0"
    assert elsewhere.printed("python snippets/program.py") == "224.0\n"
    edit(operators, "flops=2 * M * K * N", "flops=3 * M * K * N")
    assert elsewhere.printed("python snippets/program.py") == "224.0\n"  # a build sees one state of the sources
    elsewhere.look()
    assert elsewhere.number("gemm_intensity(256, 3584, 3584)")["text"] == "336.0"
    assert elsewhere.printed("python snippets/program.py") == "336.0\n"


def test_a_measured_number_follows_its_file(elsewhere, tmp_path):
    speed = 'published_speed("Qwen2.5-7B-Instruct", "BF16", 1)'
    assert elsewhere.number(speed)["text"] == "84.28"
    edit(tmp_path / "snippets/published/qwen2.5-speed-a100.csv", "1,BF16,1,84.28", "1,BF16,1,84.29")
    elsewhere.look()
    assert elsewhere.number(speed)["text"] == "84.29"


def test_a_fraction_follows_the_measured_file_and_how_it_is_read(elsewhere, tmp_path):
    fraction = 'measured("4090 24GB: Llama 3 8B F16, tg 512").fraction:.3f'
    folder = tmp_path / "snippets/published"
    assert elsewhere.number(fraction)["text"] == "0.818"
    edit(folder / "llama3-llama-cpp-2024-05.csv", "4090 24GB,8B,F16,tg,512,54.84", "4090 24GB,8B,F16,tg,512,27.42")
    elsewhere.look()
    assert elsewhere.number(fraction)["text"] == "0.409"
    edit(folder / "measurements.py", "seconds=tokens / speed", "seconds=2 * tokens / speed")
    elsewhere.look()
    assert elsewhere.number(fraction)["text"] == "0.205"


def test_a_published_number_that_is_not_there_says_so(calculator):
    error = calculator.number('published_speed("Qwen2.5-7B-Instruct", "INT3", 1)')["error"]
    assert error.startswith("ValueError: Qwen2.5-7B-Instruct, INT3, 1: no such row in snippets")
    error = calculator.number('measured("4090 24GB: Llama 3 8B F16, tg 513")')["error"]
    assert error == "ValueError: 4090 24GB: Llama 3 8B F16, tg 513: no such row in snippets/published"
    assert "no such file in snippets/published" in calculator.number('measurements("a.csv")')["error"]


def test_a_comment_changes_no_number_but_a_docstring_what_is_printed(elsewhere, tmp_path, monkeypatch):
    elsewhere.number("RIDGE")
    asked = []
    send = calculator_process.Process.send
    monkeypatch.setattr(calculator_process.Process, "send", lambda self, q: asked.append(q["about"]) or send(self, q))
    program = tmp_path / "snippets/program.py"
    program.write_text("import roofline_calc.operators as o; print(o.Cost.bytes.__doc__)")
    edit(tmp_path / "roofline_calc/operators.py", '"""All the traffic, in bytes."""', '"""Traffic."""  # all of it')
    elsewhere.look()
    elsewhere.number("RIDGE")
    assert elsewhere.printed("python snippets/program.py") == "Traffic.\n"
    assert asked == ["python snippets/program.py"]


def test_what_was_computed_is_kept_for_the_next_build_of_the_same_sources(elsewhere, tmp_path):
    counted = tmp_path / "snippets" / "counted.py"
    counted.write_text("open('runs', 'a').write('.'); print('é')")
    elsewhere.look()
    other = Calculator()
    assert [calculator.printed("python snippets/counted.py") for calculator in (elsewhere, other)] == ["é\n"] * 2
    assert (tmp_path / "runs").read_text() == "."
    other.close()


def test_a_slow_answer_is_worked_out_by_one_of_the_builds_that_ask_at_once(elsewhere, tmp_path, monkeypatch):
    monkeypatch.setitem(calculator_process.SLOW, "python snippets/slow.py", calculator_process.ALL)
    (tmp_path / "snippets/slow.py").write_text("open('runs', 'a').write('.'); print(7)")
    elsewhere.look()
    other = Calculator()
    first, second = (calculator.begin("python snippets/slow.py") for calculator in (elsewhere, other))
    assert (first.result(), second.result()) == ("7\n", "7\n")
    assert (tmp_path / "runs").read_text() == "."
    other.close()


def test_a_slow_answer_that_no_longer_matters_does_not_come_in_the_next_ones_place(elsewhere, tmp_path, monkeypatch):
    monkeypatch.setitem(calculator_process.SLOW, "python snippets/slow.py", calculator_process.ALL)
    slow = tmp_path / "snippets/slow.py"
    for number in (1, 2):
        slow.write_text(f"print({number})")
        elsewhere.look()
        pending = elsewhere.begin("python snippets/slow.py")  # the first is never waited for: its build has failed
    assert pending.result() == "2\n"


def test_an_output_block_runs_python_and_nothing_else(calculator):
    assert calculator.printed("python -c 'print(7)'") == "7\n"
    for command, reason in {
        "rm -rf site": r"^an output block holds one command .* not 'rm -rf site'$",
        """python -c 'import sys; print("oh", file=sys.stderr); sys.exit(3)'""": r"ended with status 3:\noh$",
        "python -m roofline_calc nonsense": r"ended with status 2:\nroofline-calc: command 'nonsense' is none of",
        "python snippets/gone.py": r"ended with status 1:\n(.|\n)*gone\.py",
    }.items():
        with pytest.raises(calculator_process.ComputationError, match=reason):
            calculator.printed(command)


def test_an_endless_program_is_stopped_and_the_next_question_answered(elsewhere, tmp_path, monkeypatch):
    monkeypatch.setattr(calculator_process, "LIMIT", 0.5)
    (tmp_path / "snippets/endless.py").write_text("while True: pass")
    elsewhere.look()
    with pytest.raises(calculator_process.ComputationError, match=r"took over 0\.5 seconds"):
        elsewhere.printed("python snippets/endless.py")
    monkeypatch.setattr(calculator_process, "LIMIT", 60)
    assert elsewhere.number("RIDGE")["text"] == "165"


def test_a_program_leaves_the_next_one_as_it_found_the_process(elsewhere, tmp_path):
    """It may change the folder, write past sys.stdout, and look for questions where there are none for it."""
    rude = "import os, sys; os.chdir('/'); os.system('echo noise'); sys.path.clear(); print(sys.stdin.read() == '')"
    (tmp_path / "snippets/rude.py").write_text(rude)
    elsewhere.look()
    assert elsewhere.printed("python snippets/rude.py") == "True\n"
    assert elsewhere.printed("python snippets/own_model.py").startswith("my model: ")


def test_the_process_may_end_over_a_question_and_answers_the_next(elsewhere, tmp_path):
    (tmp_path / "snippets/ends.py").write_text("import os; os._exit(1)")
    elsewhere.look()
    with pytest.raises(calculator_process.ComputationError, match=r"^`python snippets/ends\.py` ended the"):
        elsewhere.printed("python snippets/ends.py")
    assert elsewhere.number("RIDGE")["text"] == "165"


def test_maths_becomes_mathml():
    content = maths.typeset('<p><span class="arithmatex">\\(n_q &lt; 2\\)</span></p>')
    assert content.startswith("<p><math>")
    assert "arithmatex" not in content
    assert 'display="block"' in maths.mathml(r"\frac{P}{B}", display=True)


def test_a_formula_on_lines_of_its_own_is_in_parts_where_its_author_lets_it_break():
    def parts(tex: str) -> tuple[list[str], list[str]]:
        soup = BeautifulSoup(maths.typeset(f'<div class="arithmatex">\\[{tex}\\]</div>'), "html.parser")
        return soup.div["class"], [formula.text for formula in soup.select("div > math[display=block]")]

    assert parts(r"a \qquad b = c") == (["formula"], ["a", "b=c"])
    assert parts(r"a \allowbreak = b") == (["formula", "chain"], ["a", "=b"])
    assert parts(r"a \quad b") == (["formula"], ["ab"])


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


def test_a_part_of_the_dictionary_cuts_the_pages_as_the_whole_does():
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "zh").glob("*.md")))
    runs = re.findall(r"[\u4e00-\u9fff]+", text)
    assert len(runs) > 1000
    part = jieba.Tokenizer(str(search_index.dictionary(search_index.characters_of([ROOT / "docs" / "zh"]))))
    whole = jieba.Tokenizer()
    assert [part.lcut(run) for run in runs] == [whole.lcut(run) for run in runs]
    assert part.total == whole.total
    assert len(part.FREQ) < len(whole.FREQ) / 3


def test_a_command_prints_the_same_in_the_shared_process_as_in_one_of_its_own(calculator):
    for command in (
        "python snippets/own_model.py", "python -m roofline_calc ops --help", "python snippets/calculator.py",
    ):
        alone = subprocess.run(
            [sys.executable, *command.split()[1:]], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True, text=True, encoding="utf-8", check=True,
        )
        assert calculator.printed(command) == alone.stdout


def test_the_maths_font_does_not_say_when_it_was_made(monkeypatch):
    first = maths.cut(frozenset("I"))
    monkeypatch.setattr("time.time", lambda: 4e9)
    assert maths.cut(frozenset("I")) == first


def test_csv_becomes_a_table():
    printed = "name, TFLOP/s, limit\na  b, 1234.5, <memory>\nc, 2, compute\n\nsum 1,236.5\n"
    html = outputs.table(printed, "python x.py")
    soup = BeautifulSoup(html, "html.parser")
    assert [cell.text for cell in soup.select("thead > tr > *")] == ["name", "TFLOP/s", "limit"]
    rows = [[cell.text for cell in row.select("th, td")] for row in soup.select("tbody tr")]
    assert rows == [["a  b", "1,234.5", "<memory>"], ["c", "2", "compute"]]
    assert [line.text for line in soup.select("p")] == ["sum 1,236.5"]
    assert soup.caption.text == "$ python x.py"


def test_a_row_that_does_not_fit_its_head_is_refused():
    reason = r"`python x\.py` prints no table: \['c'\] has 1 fields, its head 2"
    with pytest.raises(outputs.ComputationError, match=reason):
        outputs.table("name, ms\na, 1\nc\n", "python x.py")


def test_each_part_of_the_style_sheet_is_named(tmp_path, monkeypatch):
    for name in (*styles.PARTS, "forgotten"):
        (tmp_path / f"{name}.css").write_text("", encoding="utf-8")
    monkeypatch.setattr(styles, "FOLDER", tmp_path)
    with pytest.raises(PageError, match="forgotten"):
        styles.sheet()


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<p>S = 2048, b ≤ 2</p>", "<p>S~=~2048, b~≤~2</p>"),
        ('M = <data title="a = 1">256</data> × <em>128</em>', 'M~=~<data title="a = 1">256</data>~×~<em>128</em>'),
        ("<td>a</td>\n<td>= b</td> N &lt; 172", "<td>a</td>\n<td>= b</td> N~&lt;~172"),
        ("强度 = FLOPs ÷ 字节", "强度~=~FLOPs ÷ 字节"),
        ("165.2 TFLOP/s, <data>3</data> MiB, 7 SMs, 2 bitsy", "165.2~TFLOP/s, <data>3</data>~MiB, 7 SMs, 2 bitsy"),
        ("<pre><code>M = 1</code></pre><code>M = 1</code>", "<pre><code>M = 1</code></pre><code>M = 1</code>"),
        ("<script>M = 1</script><math><mtext>M = 1</mtext></math>",) * 2,
        ("取 <math>x</math>，或", '取 <span class="tied"><math>x</math>，</span>或'),
        ("或，<math>x</math>，", '或，<wbr><span class="tied"><math>x</math>，</span>'),
        ("强度：<math>x</math>（每字节）", "强度：<wbr><math>x</math><wbr>（每字节）"),
        ("(<math>x</math>).", '<span class="tied">(<math>x</math>).</span>'),
        ('"at <math>x</math>" or', '"at <span class="tied"><math>x</math>"</span> or'),
        ("in <math>x</math> ms.", 'in <span class="tied"><math>x</math>~ms.</span>'),
        ('<div class="formula"><math display="block">x</math></div>.',) * 2,
        ("<code>gate_up_proj</code>",) * 2,
        ("<code>q_proj</code>、<code>k_proj</code>", "<code>q_proj</code>、<wbr><code>k_proj</code>"),
        ("<code>f(abc: int, d: int) -&gt; int</code>",
         '<code class="long">f(abc: int, d: int) <span class="tied">-&gt;</span> int</code>'),
        ("<code>-o snippets/results/the-lab.json</code>",
         '<code class="long"><span class="tied">-o</span> snippets/results/the-lab.json</code>'),
    ],
)
def test_what_belongs_together_stays_on_one_line(html, kept):
    assert typography.well_set(html).replace("\N{NO-BREAK SPACE}", "~") == kept


def test_the_search_index_has_common_spaces(tmp_path):
    index = tmp_path / "search_index.json"
    index.write_text('{"docs": [{"location": "a/", "text": "S\\u00a0=\\u00a02048"}]}', encoding="utf-8")
    search_index.lighten(tmp_path)
    assert "S = 2048" in (tmp_path / "words.json").read_text(encoding="utf-8")
    assert json.loads(index.read_text(encoding="utf-8")) == {"docs": []}  # that is what every page loads


LISTINGS = ["lesson/index.html", "en/lesson/index.html", "lab/index.html", "lab-notebook/index.html"]


def test_code_without_a_colour_of_its_own_has_no_element_of_its_own(site):
    code = '<span class="k">return</span><span class="w"> </span><span class="n">a</span> <span class="o">&lt;</span>'
    assert listings.light(code) == '<span class="k">return</span> a &lt;'
    pages = [BeautifulSoup((site / path).read_text(encoding="utf-8"), "html.parser") for path in LISTINGS]
    assert [len(page.select("pre .n, pre .o, pre .p, pre .w")) for page in pages] == [0] * len(LISTINGS)
