"""The lab as a program: its options, what stops it, and one short real run on the CPU."""

import json
import subprocess
import sys
from itertools import count

import pytest
from lab_fakes import check_schema, timing
from support import ROOT

torch = pytest.importorskip("torch")

from roofline_calc import gemm  # noqa: E402
from roofline_calc.measured import Results, read_results  # noqa: E402
from snippets import gpu_lab  # noqa: E402


@pytest.fixture
def small(monkeypatch):
    """A lab of a second or two, on one thread: a neighbour on the other core then costs little."""
    threads = torch.get_num_threads()
    monkeypatch.setattr(gpu_lab, "QUICK_GRID", (1, 8, 64, 256, 512))
    monkeypatch.setattr(gpu_lab, "CONTEXTS", (512, 2048, 8192))
    monkeypatch.setattr(gpu_lab, "PROMPTS", (128, 256))
    monkeypatch.setattr(gpu_lab, "INT8_GRID", (1, 8))
    monkeypatch.setattr(gpu_lab, "rotation_bytes", lambda machine: 256 * gpu_lab.MB)
    monkeypatch.setattr(gpu_lab, "cpu_cache", lambda: 16 * 2**20)
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("options", [
    ["--shape", "zz"], ["--shape", "0,4"], ["--shape", "4"], ["--shape", "4,-4"], ["--shape", "4,2000000"],
    ["--shape", "16,16"], ["--shape", "1,65535"], ["--device", "cuda:9"], ["--device", "cpu:1"], ["--device", ""],
    ["--dtype", "int3"], ["--device", "tpu"], ["--json", "/nope/x.json"], ["--json", "/"], ["--bogus"], ["--qui"],
    ["extra"], ["--json"], ["--plot", "/nope/x.svg"], ["--plot", "x.png"],
])
def test_a_wrong_option_is_one_line_and_exit_status_2(options, capsys):
    with pytest.raises(SystemExit) as left:
        gpu_lab.main(options)
    said = capsys.readouterr()
    assert left.value.code == 2
    assert said.out == ""
    assert said.err.startswith("gpu_lab.py: ")
    assert said.err.count("\n") == 1


def test_a_device_that_is_not_there_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr(torch.xpu, "is_available", lambda: False)
    with pytest.raises(SystemExit) as left:
        gpu_lab.main(["--device", "xpu"])
    assert left.value.code == 2
    assert "not available here" in capsys.readouterr().err


def test_without_torch_it_says_what_to_install(tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('no torch')\n")
    script = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; from snippets import gpu_lab; " \
             "sys.exit(gpu_lab.main([]))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr == "gpu_lab.py: torch is missing: pip install torch  (tested: torch==2.13.0)\n"


def test_without_matplotlib_a_plot_is_refused_before_minutes_of_work(monkeypatch, capsys):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(gpu_lab, "import_module", missing)
    with pytest.raises(SystemExit):
        gpu_lab.main(["--plot", "x.svg"])
    assert capsys.readouterr().err == \
        "gpu_lab.py: argument --plot: matplotlib is missing: pip install matplotlib\n"


def test_it_runs_as_the_lesson_says_from_anywhere_with_nothing_installed(tmp_path):
    """No PYTHONPATH, no package: the program finds the calculator beside it."""
    command = [sys.executable, "-I", str(ROOT / "snippets" / "gpu_lab.py"), "--help"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ran.stderr == ""
    assert "--quick" in ran.stdout


def test_every_shape_of_the_lesson_has_its_name():
    assert gpu_lab.shape("q") == (3584, 3584)
    assert gpu_lab.shape("k") == (3584, 512)
    assert gpu_lab.shape("gate") == (3584, 18944)
    assert gpu_lab.shape("down") == (18944, 3584)
    assert gpu_lab.shape("qkv") == (3584, 4608)
    assert gpu_lab.shape("gate_up") == (3584, 37888)
    assert gpu_lab.shape("3584,32") == (3584, 32)


@pytest.mark.parametrize("measured", [0, 1, 2, 5, 7])
def test_ctrl_c_keeps_what_was_measured(measured, small, monkeypatch, tmp_path, capsys):
    """The first three measurements are the roofs, then the points, two to an M."""
    done = count()

    def measure(lap, budget, laps=None):
        if next(done) == measured:
            raise KeyboardInterrupt
        return timing(0.01)

    monkeypatch.setattr(gpu_lab, "measure", measure)
    file = tmp_path / "results.json"
    assert gpu_lab.main(["--quick", "--device", "cpu", "--shape", "512,256", "--json", str(file)]) == 130
    data = json.loads(file.read_text())
    check_schema(data)
    assert data["complete"] is False
    assert len(data["roofs"]) == min(3, measured)
    assert sum(map(len, data["series"].values())) == max(0, measured - 3)
    assert capsys.readouterr().out.splitlines()[-1] == "incomplete"


def test_a_back_end_that_lacks_something_costs_no_results(small, monkeypatch, capsys):
    def attention(*args):
        raise RuntimeError("enable_gqa: not implemented\nmore")

    monkeypatch.setattr(gpu_lab, "measure", lambda *given: timing(0.01))
    monkeypatch.setattr(gpu_lab, "attention", attention)
    assert gpu_lab.main(["--quick", "--device", "cpu", "--shape", "512,256"]) == 1
    said = capsys.readouterr()
    assert "note: stopped: enable_gqa: not implemented\n" in said.err
    assert sum(line.split()[:1] == ["512"] for line in said.out.splitlines()) == 1


def test_a_further_point_that_a_device_lacks_is_skipped_with_a_line(small, monkeypatch, tmp_path, capsys):
    """The 8-bit product, for instance; all else is measured, and the results keep the line."""
    def lacking(*args):
        raise NotImplementedError("Could not run 'aten::_weight_int8pack_mm' with arguments\nmore")

    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget, laps=None: timing(lap() and 0.01))
    monkeypatch.setattr(torch, "_weight_int8pack_mm", lacking)
    file = tmp_path / "results.json"
    assert gpu_lab.main(["--quick", "--device", "cpu", "--shape", "512,256", "--json", str(file)]) == 0
    said = "gemm-int8: skipped: Could not run 'aten::_weight_int8pack_mm' with arguments"
    assert capsys.readouterr().err == f"note: {said}\n"
    data = json.loads(file.read_text())
    assert data["provenance"]["notes"] == [said]
    assert data["complete"] is True
    assert set(data["series"]) == {"gemm-rotated", "gemm-reused", "attention-decode", "attention-fused",
                                   "attention-naive"}


# One real run


def climbs_then_flattens(results: Results) -> None:
    """The shape of a roofline, by ratios alone; the best laps, since a neighbour can only slow a lap down."""
    rotated = {measured.size: measured for measured in results.of("gemm-rotated")}
    best = {M: 2 * M * 2048 * 2048 / measured.timing.best for M, measured in rotated.items()}
    assert best[8] > 2 * best[1]
    assert best[64] > 2 * best[8]
    assert best[512] < 5.6 * best[64]  # 8 times the M: no longer in proportion, on a host that swings by 2.5 too
    assert best[512] > best[256] / 3.5
    assert all(results.fraction(measured) <= 1.25 for measured in rotated.values())
    short, long, _ = results.of("attention-decode")
    assert long.timing.best > 2 * short.timing.best
    assert long.cost.intensity / short.cost.intensity == pytest.approx(1, abs=0.02)  # S cancels


def test_a_real_run_climbs_and_flattens_under_the_measured_roofs(small, tmp_path, capsys):
    """A busy machine may spoil a run, not five in a row."""
    file, plot = tmp_path / "results.json", tmp_path / "roofline.svg"
    options = ["--quick", "--device", "cpu", "--shape", "2048,2048", "--json", str(file), "--plot", str(plot)]
    for left in (4, 3, 2, 1, 0):
        assert gpu_lab.main(options) == 0
        data = json.loads(file.read_text())
        check_schema(data)
        results = read_results(file)
        assert "decode attention" in plot.read_text()
        assert data["complete"] is True
        assert results.ring > 256e6
        assert [point["size"] for point in data["series"]["attention-naive"]] == [128, 256]
        assert [point["size"] for point in data["series"]["gemm-int8"]] == [1, 8]
        assert [point["size"] for point in data["series"]["gemm-reused"]] == [1, 8, 64, 256, 512]
        assert "decode" in capsys.readouterr().out
        try:
            climbs_then_flattens(results)
            break
        except AssertionError:
            if not left:
                raise


def test_a_run_without_bf16_says_what_it_took_instead(small, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(gpu_lab, "measure", lambda *given: timing(0.01))
    monkeypatch.setattr(gpu_lab, "runs_natively", lambda machine, dtype: False)
    file = tmp_path / "results.json"
    assert gpu_lab.main(["--quick", "--device", "cpu", "--shape", "512,256", "--json", str(file)]) == 0
    data = json.loads(file.read_text())
    assert data["dtype"] == "float32"
    assert read_results(file).at("gemm-rotated", 1).cost.bytes == gemm(1, 512, 256, 4, 4, 4).bytes
    said = "bfloat16: not native here; float32 instead"
    assert data["provenance"]["notes"] == [said]
    assert capsys.readouterr().err == f"note: {said}\n"
