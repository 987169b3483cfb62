"""Every claim of the lab page: its commands and options, its download, its tables from the stored data."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import downloads
import lab_fakes
import pages
import pytest
from bs4 import BeautifulSoup
from support import LANGUAGES, ROOT

from roofline_calc.measured import NOISY, TOLERANCE, results_of
from snippets import gpu_lab


def commands(language: str) -> list[list[str]]:
    """The lab's command lines on the page, in code blocks and in the text."""
    found = re.findall(r"python snippets/gpu_lab\.py([^`\n]*)", pages.source(language, "lab.md"))
    return [shlex.split(options) for options in found]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_command_of_the_page_is_accepted(language, tmp_path, monkeypatch):
    """§run, §contribute."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "snippets" / "results").mkdir(parents=True)
    assert len(commands(language)) >= 3
    for options in commands(language):
        gpu_lab.parse(options)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_option_of_the_table_is_accepted(language, tmp_path, monkeypatch):
    """§run: and what the table says each one takes."""
    monkeypatch.chdir(tmp_path)
    options = re.findall(r"^\| `(--\w+) (\S+)` \|(.*)\|$", pages.source(language, "lab.md"), re.MULTILINE)
    assert len(options) == 5
    for option, example, said in options:
        words = [] if example.startswith("FILE") else [w for w in re.findall(r"`([\w,]+)`", said) if w != "K,N"]
        for word in [example, *words]:
            gpu_lab.parse([option, word])


def test_the_devices_and_types_are_all_named():
    table = pages.source("en", "lab.md")
    for word in (*gpu_lab.KINDS, *gpu_lab.DTYPES):
        assert re.search(rf"`(?:--\w+ )?{word}`", table), word


def test_what_the_flags_mean():
    """§our-run: noisy is a quarter of the median; §read: cache is more than a tenth above B."""
    assert (NOISY, TOLERANCE) == (0.25, 1.1)


STORED = json.loads((ROOT / "snippets/results/cpu-xeon-2-threads.json").read_text(encoding="utf-8"))


def test_the_stored_run_has_the_points_of_the_printed_program():
    """§cost: two per M, rotated and reused, attention and int8 weights."""
    assert {name: [point["size"] for point in points] for name, points in STORED["series"].items()} == {
        "gemm-rotated": list(gpu_lab.GRID), "gemm-reused": list(gpu_lab.GRID), "gemm-int8": list(gpu_lab.INT8_GRID),
        "attention-decode": list(gpu_lab.CONTEXTS), "attention-fused": list(gpu_lab.PROMPTS),
        "attention-naive": list(gpu_lab.PROMPTS)}
    assert STORED["provenance"]["notes"] == []


def test_the_stored_roofs_are_those_that_the_printed_program_measures(monkeypatch):
    """§our-run: the same methods at the same sizes. A run of another version would have to be taken again."""
    monkeypatch.setattr(gpu_lab, "lap_for", lambda machine, step, turn: None)
    numbers = gpu_lab.torch.empty(STORED["ring"] // 2, dtype=gpu_lab.torch.bfloat16)  # not touched: costs no memory
    loads = gpu_lab.roof_loads(lab_fakes.MACHINE, gpu_lab.Ring(numbers))
    assert {name: (roof["method"], roof["size"]) for name, roof in STORED["roofs"].items()} == \
        {name: load[:2] for name, load in loads.items()}
    cache = STORED["provenance"]["machine"]["cache"]
    most = max(gpu_lab.GRID) * 3584 + 3584**2  # X and W
    least = gpu_lab.rotation_bytes(replace(lab_fakes.MACHINE, cache=cache)) + 2 * most
    assert least <= STORED["ring"] < least + 2**24


def test_what_the_page_says_of_the_stored_run():
    """§our-run, §kernels, §cache: which of two figures is the greater, where the words say so."""
    results = results_of(STORED)
    assert min(results.of("gemm-rotated"), key=results.fraction).size in range(48, 161)  # around the ridge
    assert 48 < results.ridge < 160
    assert results.at("attention-decode", 2048).bandwidth < 0.7 * results.at("gemm-rotated", 8).bandwidth
    assert results.at("gemm-reused", 4).bandwidth > results.bandwidth
    assert results.reuse_gain(1024) < results.reuse_gain(4)
    cache, scores = STORED["provenance"]["machine"]["cache"], [2 * 28 * 2 * S * S for S in (512, 4096)]
    assert scores[0] < cache < scores[1]
    assert results.achieved("attention-naive", 4096) < 1
    assert results.copying < results.bandwidth
    assert 2 * results.misfit(overlap=False) < results.misfit(overlap=True)  # "fits better", "overlaps little"
    times = {M: [results.at(series, M).seconds for series in ("gemm-rotated", "gemm-int8")] for M in (1, 64)}
    assert times[1][0] > times[1][1]
    assert times[64][0] < times[64][1]
    assert max(one.performance for one in results.of("gemm-int8")) < results.peak / 5


def test_the_grid_is_dense_where_gpus_turn():
    assert {1, 1024} <= set(gpu_lab.GRID)
    between = [M for M in gpu_lab.GRID if 128 <= M <= 256]
    assert len(between) >= 8


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_download_runs_alone(site, language, tmp_path):
    """§run: unpacked anywhere, with nothing installed, by a Python that sees nothing else."""
    path = site / ("" if language == "zh" else language)
    link = BeautifulSoup((path / "lab" / "index.html").read_text(encoding="utf-8"), "html.parser").select_one(
        "a[href$='.zip']")
    data = (path / "lab" / link["href"]).resolve().read_bytes()
    zipfile.ZipFile(io.BytesIO(data)).extractall(tmp_path)
    at = tmp_path / "roofline-lab"
    program = [sys.executable, "-I", "snippets/gpu_lab.py", "--help"]
    lab = subprocess.run(program, cwd=at, capture_output=True, text=True)
    assert lab.returncode == 0, lab.stderr
    compare = [sys.executable, "-m", "roofline_calc", "compare", str(ROOT / "snippets/results")]
    assert "cpu-xeon" in subprocess.run(compare, cwd=at, capture_output=True, text=True, check=True).stdout
    assert (at / "lab-notebook.ipynb").read_bytes() == (ROOT / "docs" / language / "lab-notebook.ipynb").read_bytes()


def test_the_download_has_the_same_bytes_at_every_build():
    """In another process, too."""
    program = "import sys, downloads; sys.stdout.buffer.write(downloads.lab_archive('en'))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    again = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    assert again.stdout == downloads.lab_archive("en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_machine_has_a_row_and_the_chart_shows_the_data(site, language):
    """§contribute, §our-run."""
    path = site / ("" if language == "zh" else language)
    text = (path / "lab" / "index.html").read_text(encoding="utf-8")
    page = BeautifulSoup(text, "html.parser")
    table = page.select(".printed table")[-1].get_text()
    for file in (ROOT / "snippets" / "results").glob("*.json"):
        assert file.stem in table
    chart = (path / "figures" / "lab-cpu-xeon-2-threads.svg").read_text(encoding="utf-8")
    assert "Intel(R) Xeon(R) Processor, 2 threads" in chart  # its title
    assert chart.count("stroke-width: 1.3") > 2 * len(gpu_lab.GRID)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_that_these_are_cpu_results(language):
    first = pages.source(language, "lab.md").partition("## ")[0]
    assert "CPU" in first
    assert "(#contribute)" in first


def test_a_new_results_file_gets_its_row_and_chart(copy, tmp_path_factory):
    """§contribute: the file alone is enough."""
    folder = copy / "snippets" / "results"
    data = json.loads((folder / "cpu-xeon-2-threads.json").read_text(encoding="utf-8"))
    data["provenance"]["machine"]["name"] = "A Made-up Card"
    (folder / "gpu-made-up.json").write_text(json.dumps(data), encoding="utf-8")
    compare = [sys.executable, "-m", "roofline_calc", "compare", "snippets/results"]
    rows = subprocess.run(compare, cwd=copy, capture_output=True, text=True, check=True).stdout.splitlines()
    assert any(row.startswith("gpu-made-up ") and row.endswith("A Made-up Card") for row in rows)
    draw = [sys.executable, "snippets/figures.py"]
    drawn = subprocess.run(draw, cwd=copy, env={"PYTHONPATH": str(copy)}, capture_output=True, text=True, check=True)
    assert "A Made-up Card" in json.loads(drawn.stdout)["en"]["lab-gpu-made-up"]


def test_the_files_of_the_page_are_named_in_the_archive():
    names = zipfile.ZipFile(io.BytesIO(downloads.lab_archive("zh"))).namelist()
    assert {"roofline-lab/LICENSE", "roofline-lab/snippets/gpu_lab.py", "roofline-lab/roofline_calc/figure.py",
            "roofline-lab/roofline_calc/models.toml"} <= set(names)
    assert all(not Path(name).is_absolute() for name in names)
