"""What the snippets say agrees with the library, and what the page prints is what the reader gets."""

import runpy
import subprocess
import sys

import pytest
from bs4 import BeautifulSoup
from support import LANGUAGES, ROOT

from roofline_calc import QWEN

# lesson.md of the brief: M = 1 all 1.0; M = 256: 224.0, 162.9, 236.0, 236.0; decode 7.0; prefill 896, 3584, 14336;
# the corrected table from oracles.json.
EXPECTED = """\
GEMM, M = 1
  q_proj, o_proj      memory-bound       1.0 FLOP/byte
  k_proj, v_proj      memory-bound       1.0 FLOP/byte
  gate_proj, up_proj  memory-bound       1.0 FLOP/byte
  down_proj           memory-bound       1.0 FLOP/byte
GEMM, M = 256
  q_proj, o_proj      compute-bound    224.0 FLOP/byte
  k_proj, v_proj      memory-bound     162.9 FLOP/byte
  gate_proj, up_proj  compute-bound    236.0 FLOP/byte
  down_proj           compute-bound    236.0 FLOP/byte
attention, decode, kv-only
  S = 128             memory-bound       7.0 FLOP/byte
  S = 512             memory-bound       7.0 FLOP/byte
  S = 2048            memory-bound       7.0 FLOP/byte
attention, prefill, kv-only
  S = 128             compute-bound    896.0 FLOP/byte
  S = 512             compute-bound   3584.0 FLOP/byte
  S = 2048            compute-bound  14336.0 FLOP/byte
attention, corrected             kv-only            q+kv+o    q+kv+o, causal
  decode   S = 128          7.0 memory        6.6 memory        6.6 memory
  decode   S = 512          7.0 memory        6.9 memory        6.9 memory
  decode   S = 2048         7.0 memory        7.0 memory        7.0 memory
  prefill  S = 128        896.0 compute     112.0 memory       56.4 memory
  prefill  S = 512       3584.0 compute     448.0 compute     224.4 compute
  prefill  S = 2048     14336.0 compute    1792.0 compute     896.4 compute
"""


def blocks(site, language: str) -> dict[str, str]:
    """The lesson's titled code blocks as a reader's selection or the copy button takes them."""
    path = site / ("lesson" if language == "zh" else "en/lesson") / "index.html"
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    return {
        block.select_one(".filename").text: block.select_one("code").text
        for block in soup.select("div.highlight") if block.select_one(".filename")
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_listing_alone_prints_the_output_beneath_it(site, language, tmp_path):
    """§4.1, §4.2: copied from the built page into an empty folder, run by a Python that sees nothing else."""
    shown = blocks(site, language)
    program = tmp_path / "calculator.py"
    program.write_text(shown["calculator.py"], encoding="utf-8")
    command = [sys.executable, "-I", program.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == shown["$ python snippets/calculator.py"] == EXPECTED


def test_the_listing_is_the_same_in_both_languages(site):
    assert blocks(site, "zh") == blocks(site, "en")


def test_the_listing_fits_its_block(site):
    """No sideways scrolling on a desktop: 80 columns."""
    assert [line for line in blocks(site, "en")["calculator.py"].splitlines() if len(line) > 80] == []


def test_section_markers_do_not_leak_into_the_page(site):
    for page in site.rglob("*.html"):
        assert "--8<--" not in page.read_text(encoding="utf-8")


def test_the_sweep_uses_the_models_shapes():
    """The listing has to stand alone, so it spells the shapes out; they are the catalogue's."""
    scope = runpy.run_path(str(ROOT / "snippets" / "calculator.py"))
    spelled = {name.strip(): shape for names, shape in scope["LAYERS"].items() for name in names.split(",")}
    assert spelled == QWEN.projections()
    assert (scope["N_Q"], scope["N_KV"], scope["HEAD_DIM"]) == (QWEN.n_q, QWEN.n_kv, QWEN.head_dim)


def test_the_command_that_the_page_shows_runs_in_a_clone_with_nothing_installed():
    """§4.2: python snippets/calculator.py, from the top of the repository; -I would hide the repository itself."""
    command = [sys.executable, "-S", "snippets/calculator.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env={"PYTHONUTF8": "1"})
    assert done.stdout == EXPECTED
