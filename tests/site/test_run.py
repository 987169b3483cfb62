"""What runs in the page: the runner, on any CPython; Pyodide and the editor, once in the site; each listing."""

import gzip
import io
import json
import re
import subprocess
import sys
import zipfile

import editor
import listings
import npm
import pages
import pyodide
import pytest
import runner
from project import PageError
from support import LANGUAGES, PAGES, ROOT, ROOTS

NOTE = "only the standard library"
NOT_RUN = {"gpu_lab.py: rotate", "gpu_lab.py: sweep"}  # parts of a program that needs PyTorch


def run(capsys: pytest.CaptureFixture[str], code: str) -> tuple[bool, str, str]:
    well = runner.run(code, "program.py", NOTE)
    return well, *capsys.readouterr()


def test_a_program_prints_and_ends_well(capsys):
    assert run(capsys, "import sys\nprint(__name__, __file__, sys.argv)") == (
        True, "__main__ program.py ['program.py']\n", "",
    )


def test_each_run_is_a_main_module_of_its_own(capsys):
    before = sys.modules["__main__"]
    run(capsys, "left = 1")
    assert run(capsys, "print('left' in globals())")[1] == "False\n"
    dataclass = """
from __future__ import annotations
from dataclasses import dataclass, KW_ONLY
@dataclass
class Shape:
    _: KW_ONLY
    M: int = 1
print(Shape(M=2))
"""
    assert run(capsys, dataclass)[:2] == (True, "Shape(M=2)\n")  # it looks its annotations up in sys.modules
    assert sys.modules["__main__"] is before


def test_a_traceback_shows_the_programs_lines_and_no_others(capsys):
    well, _, said = run(capsys, "def f(x):\n    return 1 / x\n\nprint('before')\nf(0)\n")
    assert not well
    assert re.findall(r'File "(.*)", line (\d+), in (.*)\n    (.*)', said) == [
        ("program.py", "5", "<module>", "f(0)"), ("program.py", "2", "f", "return 1 / x"),
    ]
    assert said.endswith("ZeroDivisionError: division by zero\n")


def test_a_traceback_is_that_of_a_program_in_a_file(capsys, tmp_path):
    code = "def f():\n    try:\n        {}['M']\n    except KeyError as e:\n        raise ValueError(1) from e\nf()\n"
    (tmp_path / "program.py").write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True)
    assert run(capsys, code)[2] == done.stderr.replace(f"{tmp_path}/", "")


def test_a_syntax_error_names_its_line(capsys):
    well, _, said = run(capsys, "M = 1\nprint(M\n")
    assert not well
    assert said.startswith('  File "program.py", line 2\n')
    assert "SyntaxError: '(' was never closed" in said


@pytest.mark.parametrize(
    ("code", "well", "said"),
    [("", True, ""), ("0", True, ""), ("3", False, ""), ("'no such model'", False, "no such model\n")],
)
def test_an_exit_ends_the_program_as_it_ends_a_process(capsys, code, well, said):
    assert run(capsys, f"raise SystemExit({code})\nprint('never')") == (well, "", said)


def test_an_unknown_module_says_what_there_is(capsys):
    well, _, said = run(capsys, "import torhc")
    assert not well
    assert said.endswith(f"ModuleNotFoundError: No module named 'torhc'\n{NOTE}\n")


def test_the_archive_has_all_that_the_programs_import_and_read():
    archive = zipfile.ZipFile(io.BytesIO(pyodide.programs()))
    assert archive.testzip() is None
    found = [path for path in (ROOT / "roofline_calc").rglob("*") if path.suffix in (".py", ".toml")]
    needed = {path.relative_to(ROOT).as_posix() for path in (*found, *(ROOT / "snippets" / "own").iterdir())}
    assert set(archive.namelist()) == needed | {"runner.py"}
    assert pyodide.programs() == pyodide.programs()


def test_both_languages_share_one_copy(site):
    copies = [path.relative_to(site).as_posix() for path in site.rglob("*.wasm.gz")]
    assert copies == ["assets/pyodide/pyodide.asm.wasm.gz"]
    for language in LANGUAGES:
        script = site / ROOTS[language] / "assets" / "runtime.js"
        folder = re.search(r'new URL\("([^"]+)"', script.read_text(encoding="utf-8"))[1]
        assert (script.parent / folder).resolve() == (site / "assets" / "pyodide").resolve()


def test_the_files_are_pyodides_own(site):
    served, package = site / "assets" / "pyodide", ROOT / "node_modules" / "pyodide"
    assert gzip.decompress((served / "pyodide.asm.wasm.gz").read_bytes()) == (package / "pyodide.asm.wasm").read_bytes()
    for old, new in (("pyodide.mjs", "pyodide.js"), ("pyodide.asm.mjs", "pyodide.asm.js"), ("python_stdlib.zip",) * 2):
        assert (served / new).read_bytes() == (package / old).read_bytes()
    assert pyodide.version() in (served / "NOTICE.txt").read_text(encoding="utf-8")


def test_the_first_run_fetches_what_the_lesson_says(site):
    """§4.1: about 6 MB, and at most 8 in all; the progress display counts to the same number."""
    folder = site / "assets" / "pyodide"
    counted = sum((folder / name).stat().st_size for name in ("pyodide.asm.wasm.gz", "python_stdlib.zip"))
    assert f"export const size = {counted};" in (site / "assets" / "runtime.js").read_text(encoding="utf-8")
    assert round(counted / 1e6) == 6
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 8e6


def test_both_languages_share_one_editor(site):
    assert list(site.rglob("editor-NOTICE.txt")) == [site / "assets" / "editor-NOTICE.txt"]
    script = site / ROOTS["en"] / "assets" / "editor.js"
    leads_to = re.fullmatch(r'export \* from "([^"]+)";\n', script.read_text(encoding="utf-8"))[1]
    assert (script.parent / leads_to).resolve() == (site / "assets" / "editor.js").resolve()
    assert len(gzip.compress((site / "assets" / "editor.js").read_bytes(), 9)) <= 110_000


def test_the_editors_notice_has_the_licence_of_every_package_in_it(site):
    notice = (site / "assets" / "editor-NOTICE.txt").read_text(encoding="utf-8")
    found = editor.packages()
    assert {"@codemirror/view", "@lezer/common", "style-mod"} <= found.keys()  # what ours import, and what those need
    for name, version in found.items():
        assert f"{name} {version}" in notice
        assert (npm.MODULES / name / "LICENSE").read_text(encoding="utf-8").strip() in notice


def test_the_editor_is_put_together_once_and_anew_when_it_changes(monkeypatch, tmp_path):
    settings = tmp_path / "docs" / "assets" / "editor" / "editor.js"
    settings.parent.mkdir(parents=True)
    monkeypatch.setattr(editor, "ROOT", tmp_path)
    monkeypatch.setattr(editor, "SOURCES", settings.parent)
    settings.write_text("export const answer = 42;", encoding="utf-8")
    first = editor.script()
    assert "42" in first.read_text(encoding="utf-8")
    first.write_bytes(b"kept")
    assert editor.script().read_bytes() == b"kept"
    settings.write_text("export const answer = 43;", encoding="utf-8")
    assert "43" in editor.script().read_text(encoding="utf-8")
    settings.write_text("export const answer = ;", encoding="utf-8")
    with pytest.raises(PageError, match=r"docs/assets/editor: .*Unexpected"):
        editor.script()


def test_without_what_comes_from_npm_the_build_stops_and_names_the_cure(monkeypatch, tmp_path):
    monkeypatch.setattr(npm, "MODULES", tmp_path)
    missing = {"pyodide": pyodide.version, "@esbuild": editor.script, r"(@?\w+)": editor.packages}
    for name, needs_it in missing.items():
        with pytest.raises(PageError, match=rf"node_modules/{name}.* is missing.*`npm ci --ignore-scripts`"):
            needs_it()
    (tmp_path / "nameless").mkdir()
    with pytest.raises(PageError, match=r"node_modules/nameless has no LICENSE"):
        editor.licence("nameless")


FENCE = '```{{ .python .run title="program.py"{} }}'
CODE = '<span class="n">M</span> = 1\nN = &quot;2&quot;\nN = 3\n'
SHOWN = f'<div class="run highlight"{{}}><pre><code>{CODE}</code></pre></div>'


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("", "it does not say so"),
        (' data-edit="K ="', 'not exactly one of its lines begins with "K ="'),
        (' data-edit="N ="', 'not exactly one of its lines begins with "N ="'),
    ],
)
def test_a_listing_that_does_not_say_at_which_line_its_editor_opens_stops_the_build(mark, said):
    source = FENCE.format(' data-edit="M"') + f'\nM\n```\n\n{FENCE.format(mark)}\n--8<-- "program.py"\n```\n'
    with pytest.raises(PageError, match=f"^line 5: .*{re.escape(said)}: write data-edit="):
        listings.mounted(SHOWN.format(mark), source)
    marked = SHOWN.format(' data-edit="M = 1"')
    assert 'data-mount="run"' in listings.mounted(marked, source)


def test_the_lock_file_names_no_registry_and_pins_what_package_json_pins():
    packages = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for package in packages.values():
        package.pop("funding", None)  # where its authors ask for money
    assert "://" not in json.dumps(packages)
    asked = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    served = {"pyodide", *editor.packages()}  # the site serves what it depends on, and what that needs
    assert set(asked["dependencies"]) <= served
    for name, version in (asked["dependencies"] | asked["devDependencies"]).items():
        assert version == packages[f"node_modules/{name}"]["version"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_python_listing_runs_or_is_known_not_to(language):
    headers = [
        text.split("--8<--")[0] for page in PAGES for kind, text in pages.structure(language, page) if kind == "code"
    ]
    titles = {
        mark: {re.search(r'title="([^"]+)"', header)[1] for header in headers if header.startswith(mark)}
        for mark in ("{ .python .run", "python ")
    }
    assert titles == {"{ .python .run": {"calculator.py", "snippets/own_model.py"}, "python ": NOT_RUN}


def test_the_scripts_are_small(site):
    """About 6.5 KB, gzipped as a server would, and half a KB that listings, questions and the explorer share."""
    def size(*names: str) -> int:
        return sum(len(gzip.compress((site / "assets" / name).read_bytes(), 9)) for name in names)

    assert size("run.js", "run-python.js", "run-words.js", "run-worker.js", "runtime.js") <= 6_600
    assert size("dom.js") <= 600
