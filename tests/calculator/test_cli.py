"""The command line: tables for people, JSON and CSV for programs, one line for wrong input."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from itertools import groupby

import pytest
from support import ROOT

from roofline_calc import ACCELERATORS, MODELS, QWEN, RTX_4090, WIDTHS, Precision, analyse, gemm_limit, width_of
from roofline_calc.__main__ import main
from roofline_calc.commands import labelled


def as_json(cli, line: str):
    text = cli(f"{line} --json")
    data = json.loads(text)
    assert json.dumps(data, indent=2, ensure_ascii=False) + "\n" == text  # numbers and order survive the round trip
    return data


# --------------------------------------------------------------------------- ops


def test_a_state_is_shown_and_counted_among_what_must_fit(cli):
    data = as_json(cli, "ops --model nemotron-3-nano --hardware h200 --batch 3 --context 100")
    assert data["state_bytes"] == 3 * MODELS["nemotron-3-nano"].state_bytes()
    text = cli("ops --model nemotron-3-nano --hardware h200 --batch 3 --context 100")
    assert "state             147.2 Mbyte (0.1371 GiB), whatever the context" in text.splitlines()
    resident = MODELS["nemotron-3-nano"].cache_bytes([100] * 3) + MODELS["nemotron-3-nano"].weight_bytes()
    assert "memory            63.3 Gbyte" in text
    assert resident == pytest.approx(63.305e9, rel=1e-5)
    assert not any(line.startswith("state ") for line in cli("ops").splitlines())
    rows = as_json(cli, "sweep --model nemotron-3-nano --hardware h200 --values 3 --context 100")["points"]
    assert rows[0]["memory"] == resident


def test_ops_for_people(cli):
    lines = cli("ops --batch 256 --hardware rtx-4090").splitlines()
    assert lines[0].startswith("Qwen2.5-7B-Instruct on RTX 4090: bf16")
    assert lines[1] == "decode: 256 sequences, context 2,048 tokens, 256 tokens in flight"
    assert lines[3].split() == [
        "operator", "FLOPs", "traffic", "intensity", "regime", "time", "share", "of", "time",
    ]
    assert lines[4].split() == ["GFLOP", "Gbyte", "FLOP/byte", "ms", "%"]
    table = {line.split()[0]: line.split() for line in lines[5:] if line}
    assert table["q_proj"][3:5] == ["224", "compute-bound"]
    assert table["k_proj"][3:5] == ["162.9", "memory-bound"]
    assert table["all,"][-1] == "100"
    assert "8,686 tokens/s: one after the other" in cli("ops --batch 256 --context 512")
    assert "at most 11,515 tokens/s" in cli("ops --batch 256 --context 512")
    assert "does not fit" in cli("ops --batch 256")
    assert "\x1b" not in "".join(lines)


def test_columns_are_aligned(cli):
    block = cli("ops").split("\n\n")[1].splitlines()
    ends = [[match.end() for match in re.finditer(r"\S+", line)] for line in block[2:-1]]
    assert all(len({row[column] for row in ends}) == 1 for column in (1, 2, 3))


def test_ops_for_programs(cli):
    data = as_json(cli, "ops --batch 8 --context 500 --fused")
    report = analyse(QWEN.step({(1, 500): 8}, fused=True), RTX_4090)
    assert [row["operator"] for row in data["operators"]] == [row.operator for row in report.rows]
    for shown, row in zip(data["operators"], report.rows, strict=True):
        assert shown["flops"] == row.cost.flops
        assert shown["traffic"] == row.cost.traffic
        assert (shown["intensity"], shown["regime"]) == (row.cost.intensity, row.regime)
    assert sum(row["share"] for row in data["operators"]) == pytest.approx(100)
    for time in ("lower_bound", "kernel_by_kernel", "no_overlap"):
        assert data["total"][time] == pytest.approx(getattr(report, time))
        assert data["tokens_per_second"][time] == pytest.approx(8 / getattr(report, time))
    assert data["weights_resident"] == QWEN.weight_bytes()
    assert data["compulsory"]["weights"] == QWEN.weight_bytes_read()
    assert data["kv_bytes"] == 8 * 500 * 57344
    assert data["ridge"] == pytest.approx(163.889, abs=1e-3)
    assert data["units"]["intensity"] == "FLOP/byte"
    assert data["fits"] is True


def test_ops_as_csv(cli):
    rows = list(csv.DictReader(io.StringIO(cli("ops --csv"))))
    assert list(rows[0]) == [
        "operator", "flops [FLOP]", "bytes [byte]", "intensity [FLOP/byte]", "regime", "seconds [s]", "share [%]",
    ]
    step = QWEN.step([(1, 2048)])
    assert {row["operator"]: float(row["flops [FLOP]"]) for row in rows} == {k: c.flops for k, c in step.items()}


def sequences(data) -> list[tuple[int, int, int]]:
    return [(row["query_tokens"], row["context"], row["count"]) for row in data["sequences"]]


def test_a_batch_too_large_for_any_memory_is_still_counted(cli):
    assert sequences(as_json(cli, "ops --batch 1_000_000_000_000")) == [(1, 2048, 10**12)]


def test_sequences_of_their_own_lengths(cli):
    data = as_json(cli, "ops --context 2048,500,8_000")
    assert sequences(data) == [(1, 2048, 1), (1, 500, 1), (1, 8000, 1)]
    assert sequences(as_json(cli, "ops --context 2048,500,500 --batch 3")) == [(1, 2048, 1), (1, 500, 2)]
    assert "context 500 to 8,000 tokens" in cli("ops --context 2048,500,8000")


def test_phases(cli):
    prefill = as_json(cli, "ops --phase prefill --context 1024 --batch 2")
    assert sequences(prefill) == [(1024, 1024, 2)]
    head = next(row for row in prefill["operators"] if row["operator"] == "lm_head")
    assert head["flops"] == 2 * 2 * 3584 * 152064  # one row per sequence is sampled
    chunk = as_json(cli, "ops --phase prefill --context 1024 --tokens 256")
    assert sequences(chunk) == [(256, 1024, 1)]
    verify = as_json(cli, "ops --tokens 4")
    head = next(row for row in verify["operators"] if row["operator"] == "lm_head")
    assert head["flops"] == 4 * 2 * 3584 * 152064  # every drafted token is


def test_data_types(cli):
    data = as_json(cli, "ops --weights int4-g128 --kv fp8")
    assert data["bytes_per_element"] == {
        "activations": 2, "weights": 0.515625, "kv": 1, "others": 2,
    }
    step = QWEN.step([(1, 2048)], precision=Precision(weights=width_of("int4-g128"), kv=1))
    assert {row["operator"]: row["bytes"] for row in data["operators"]} == {name: c.bytes for name, c in step.items()}
    w8a8 = as_json(cli, "ops --dtype fp8 --hardware h200")
    assert w8a8["bytes_per_element"] == {"activations": 1, "weights": 1, "kv": 2, "others": 2}
    assert w8a8["ridge"] == pytest.approx(1978.9e12 / 4.8e12)
    assert as_json(cli, "ops --dtype fp32")["bytes_per_element"]["kv"] == 4
    assert as_json(cli, "ops --model gpt-oss-20b")["modules"]["experts"] == {"width": 0.53125, "multiplies": None}
    assert as_json(cli, "ops --model gpt-oss-20b --weights bf16")["modules"] == {}
    assert as_json(cli, "ops --hardware t4")["dtype"] == "fp16"
    accumulating = as_json(cli, "ops --dtype fp16acc --hardware rtx-4080")
    assert accumulating["bytes_per_element"] == as_json(cli, "ops --dtype fp16")["bytes_per_element"]
    assert accumulating["ridge"] == pytest.approx(195e12 / 716.8e9)
    assert as_json(cli, "ops --hardware generic-cpu")["dtype"] == "bf16"


def test_an_fp8_checkpoint_multiplies_in_fp8_where_the_card_can(cli):
    stored = {"layers": {"width": 1.000244140625, "multiplies": "fp8"}}
    own = as_json(cli, "ops --model deepseek-v3 --hardware h200 --tp 8")
    assert (own["dtype"], own["modules"]) == ("bf16", stored)
    rows = {row["operator"]: row for row in own["operators"]}
    assert rows["o_proj"]["traffic"]["X"] == 61 * 16 * 128  # one byte each
    widened = as_json(cli, "ops --model deepseek-v3 --hardware a100-80gb-sxm --tp 8")
    assert widened["modules"] == {"layers": {"width": 1.000244140625, "multiplies": None}}
    prefill = "ops --model deepseek-v3 --tp 8 --phase prefill --context 4096 --fused"
    times = [as_json(cli, f"{prefill} --hardware h200{more}")["total"]["lower_bound"]
             for more in ("", " --dtype fp8", " --dtype bf16")]
    assert times[0] == times[1] < 0.7 * times[2]
    assert "weights 8.002 bits (multiplied in fp8)" in cli("ops --model deepseek-v3 --hardware h200 --tp 8")


def test_forms_of_latent_attention(cli):
    line = "ops --model deepseek-v3 --hardware h200 --tp 8 --phase prefill --context 4096"
    names = [[row["operator"] for row in as_json(cli, line + form)["operators"]] for form in ("", " --mla absorbed")]
    assert "expanded_attention" in names[0]
    assert "absorbed_attention" in names[1]
    found = as_json(cli, "cross --model deepseek-v3 --hardware h200 --tp 8")["first_compute_bound"]
    pairs = 16 * 2 * 320  # FLOPs of a pair of tokens; below, bytes of K, V, Q, O and rotary key
    S = found["prefill_attention_context"]
    around = [(n + 1) / 2 * pairs / ((128 + 128 + 192 + 128) * 16 * 2 + 64 * 2) for n in (S - 1, S)]
    assert around[0] < 989.4 / 4.8 <= around[1]


def test_fp8_attention_and_element_wise_operators(cli):
    line = "ops --model qwen2.5-7b --hardware h200 --phase prefill --context 8192 --batch 2"
    plain, fp8 = (as_json(cli, line + more) for more in ("", " --attention fp8"))
    seconds = [{row["operator"]: row["seconds"] for row in one["operators"]} for one in (plain, fp8)]
    assert seconds[0]["attention"] / seconds[1]["attention"] == pytest.approx(1978.9 / 989.4)
    assert seconds[0]["q_proj"] == seconds[1]["q_proj"]
    unfused = as_json(cli, f"{line} --elementwise")
    assert {"norms", "swiglu"} <= {row["operator"] for row in unfused["operators"]}
    assert unfused["total"]["lower_bound"] == plain["total"]["lower_bound"]
    swept = as_json(cli, "sweep --values 1 --elementwise")["points"][0]["operators"]
    assert "norms" in {row["operator"] for row in swept}


def test_one_of_several_cards(cli):
    data = as_json(cli, "ops --model llama-3.1-70b --hardware h100-sxm --tp 4")
    assert data["model"] == "Llama 3.1 70B, one of 4 cards"
    assert data["weights_resident"] == MODELS["llama-3.1-70b"].card(4).weight_bytes()


def test_traffic(cli):
    rows = as_json(cli, "ops --traffic kv-only")["operators"]
    assert next(row for row in rows if row["operator"] == "attention")["intensity"] == 7


# ----------------------------------------------------------------- other commands


def test_sweep_over_batch(cli):
    data = as_json(cli, "sweep --values 1,256 --context 512")
    assert [(point["batch"], point["context"]) for point in data["points"]] == [(1, 512), (256, 512)]
    for point in data["points"]:
        report = analyse(QWEN.step({(1, 512): point["batch"]}), RTX_4090)
        assert point["lower_bound"] == pytest.approx(report.lower_bound)
        assert point["kernel_by_kernel"] == pytest.approx(report.kernel_by_kernel)
        assert {row["operator"]: row["regime"] for row in point["operators"]} == {
            row.operator: row.regime for row in report.rows
        }
    assert data["points"][0]["compute_bound"] == []
    assert "q_proj" in data["points"][1]["compute_bound"]
    table = list(csv.DictReader(io.StringIO(cli("sweep --values 1,256 --csv"))))
    assert [row["fits"] for row in table] == ["True", "False"]
    assert len(cli("sweep").splitlines()) == 3 + 2 + 11


def test_sweep_over_context(cli):
    data = as_json(cli, "sweep --over context --values 128,512 --phase prefill --batch 2")
    assert [(point["batch"], point["context"]) for point in data["points"]] == [(2, 128), (2, 512)]
    report = analyse(QWEN.step({(512, 512): 2}), RTX_4090)
    assert data["points"][1]["tokens_per_second"] == pytest.approx(1024 / report.lower_bound)
    assert cli("sweep --over context").splitlines()[5].split()[:2] == ["1", "128"]


def test_cross(cli, oracles):
    data = as_json(cli, "cross")
    rows = {row["operator"]: row for row in data["linear_layers"]}
    expected = oracles["gemm"]["k_proj"]["crossing_tokens"]["ridge_spec"]["value"]
    assert rows["k_proj"]["crossing"] == pytest.approx(expected)
    assert rows["k_proj"]["limit"] == gemm_limit(3584, 512)
    assert data["first_compute_bound"] == {
        "decode_batch": None, "decode_query_tokens": 26, "prefill_context": 178, "prefill_attention_context": 374,
        "largest_context": 183558, "largest_batch": 89,
    }
    text = cli("cross --context 2048")
    assert "batch never" in text
    assert "context up to 183,558" in text
    router = next(line for line in cli("cross --model mixtral-8x7b").splitlines() if line.startswith("router"))
    assert "never" in router
    table = list(csv.DictReader(io.StringIO(cli("cross --model mixtral-8x7b --csv"))))
    assert next(row for row in table if row["operator"] == "router")["crossing [token]"] == ""


def test_models_and_hardware(cli):
    assert {row["name"]: row["params"] for row in as_json(cli, "models")} == {k: m.params for k, m in MODELS.items()}
    cards = as_json(cli, "hardware")
    assert {row["name"]: row["bandwidth"] for row in cards} == {k: card.bandwidth for k, card in ACCELERATORS.items()}
    assert all(row["source"] for row in cards)
    assert {row["name"]: row["fp8"] for row in cards}["rtx-3090"] is None
    assert cli("hardware").splitlines()[3].split()[2] == "-"
    for command, known in [("models", MODELS), ("hardware", ACCELERATORS)]:
        assert [line.split()[0] for line in cli(command).splitlines()[2:]] == list(known)
        assert len(cli(f"{command} --csv").splitlines()) == len(known) + 1


def test_the_tables_of_the_catalogue_fit_a_terminal(cli):
    """Fifty cards, and beneath each other; a terminal has 80 to 120 columns."""
    for command in ("models", "hardware"):
        assert max(map(len, cli(command).splitlines())) <= 100
    links = {line.split()[0]: line.split()[5] for line in cli("hardware").splitlines()[2:]}
    assert (links["rtx-4090"], links["h100-sxm"], links["h20"], links["m1"]) == ("32", "450", "450", "-")
    makers = [row["maker"] for row in as_json(cli, "hardware")]
    assert [maker for maker, _ in groupby(makers)] == ["NVIDIA", "AMD", "Intel", "Google", "Amazon", "Apple", ""]


def test_where_each_entry_comes_from(cli):
    for command, known in [("models", MODELS), ("hardware", ACCELERATORS)]:
        said: dict[str, str] = {}
        name = ""
        for line in cli(f"{command} --sources").splitlines():
            if line.startswith(" "):
                said[name] += line.strip() + " "
            else:
                name = line
                said[name] = ""
            assert len(line) <= 88
        assert list(said) == list(known)
        for key, entry in known.items():
            wanted = [entry.source, getattr(entry, "note", "")]
            assert all(" ".join(part.split()) in " ".join(said[key].split()) for part in wanted)
        assert as_json(cli, f"{command} --sources") == as_json(cli, command)
        assert cli(f"{command} --sources --csv") == cli(f"{command} --csv")
    assert said["rtx-4090"].endswith("Link: 32 Gbyte/s one way. ")
    assert "Link" not in said["m1"]


def test_programs_get_everything_about_a_card(cli):
    rows = {row["name"]: row for row in csv.DictReader(cli("hardware --csv").splitlines())}
    for data in as_json(cli, "hardware"):
        card, row = ACCELERATORS[data["name"]], rows[data["name"]]
        for found in (data, row):
            assert (found["product"], found["maker"], found["note"], found["source"]) == (
                card.name, card.maker, card.note, card.source,
            )
        assert data["peak"] == card.peak
        numbers = {"memory [byte]": card.memory, "bandwidth [byte/s]": card.bandwidth, "link [byte/s]": card.link}
        numbers |= {"last_level_cache [byte]": card.last_level_cache}
        numbers |= {f"{name} [{'OP/s' if name == 'int8' else 'FLOP/s'}]": card.peak.get(name) for name in WIDTHS}
        assert {key: float(row[key]) if row[key] else None for key in numbers} == numbers
        assert [data[key.split()[0]] for key in list(numbers)[:4]] == list(numbers.values())[:4]


# ------------------------------------------------------------------ files of one's own

CARD = '[{}]\nname = "My card"\nbandwidth = 1e12\nmemory = 1_000_000_000\npeak = {{ bf16 = 1e14 }}\nsource = "me"\n'


def test_a_card_of_ones_own(cli, refusal, tmp_path):
    path = tmp_path / "my.toml"
    path.write_text(CARD.format("a"), encoding="utf-8")
    assert as_json(cli, f"ops --hardware {path}")["ridge"] == 100
    path.write_text(CARD.format("a") + CARD.format("big"), encoding="utf-8")
    assert as_json(cli, f"ops --hardware {path}:big")["hardware"] == "My card"
    assert refusal(f"ops --hardware {path}") == f"{path} has 2 entries: name one, {path}:a"
    assert refusal(f"ops --hardware {path}:bgi") == f"{path} has no 'bgi'; did you mean 'big'?"
    path.write_text(CARD.format("a").replace("memory", "memmory"), encoding="utf-8")
    assert refusal(f"ops --hardware {path}").startswith(f"{path}: [a]: ")
    path.write_text("", encoding="utf-8")
    assert refusal(f"ops --hardware {path}") == f"{path} has 0 entries: name one, {path}:NAME"


def test_a_model_of_ones_own(cli, refusal, tmp_path):
    path = tmp_path / "config.json"
    config = {
        "architectures": ["LlamaForCausalLM"], "hidden_size": 2048, "num_hidden_layers": 16, "vocab_size": 128256,
        "intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
        "tie_word_embeddings": True, "torch_dtype": "float32",
    }
    path.write_text(json.dumps(config), encoding="utf-8")
    data = as_json(cli, f"ops --model {path}")
    assert data["weights_resident"] == 4 * 1_235_814_400
    assert data["dtype"] == "fp32"
    assert as_json(cli, f"ops --model {tmp_path}") == data
    path.write_text(json.dumps(config | {"architectures": ["GPT2LMHeadModel"]}), encoding="utf-8")
    assert refusal(f"ops --model {path}").startswith("architectures = 'GPT2LMHeadModel': not supported")
    path.write_text("not json", encoding="utf-8")
    assert "not a JSON file" in refusal(f"ops --model {path}")


# --------------------------------------------------------------------- wrong input


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "the following arguments are required: command"),
        ("op", "command 'op' is none of ops, sweep, cross, plot, compare, models, hardware; did you mean 'ops'?"),
        ("frobnicate", "command 'frobnicate' is none of ops, sweep, cross, plot, compare, models, hardware"),
        ("ops --model qwen2.5-7",
         "model 'qwen2.5-7' is unknown; did you mean 'qwen2.5-7b'? (list them: roofline-calc models)"),
        ("ops --hardware RTX4090",
         "hardware 'RTX4090' is unknown; did you mean 'rtx-4090'? (list them: roofline-calc hardware)"),
        ("ops --hardware zzz", "hardware 'zzz' is unknown (list them: roofline-calc hardware)"),
        ("ops --bacth 3", "'--bacth' is no option of ops; did you mean '--batch'?"),
        ("models --batch 3", "'--batch' is no option of models"),
        ("ops --phase decod", "argument --phase: 'decod' is none of decode, prefill; did you mean 'decode'?"),
        ("ops --batch many", "argument --batch: 'many' is not a whole number"),
        ("ops --batch 0", "batch = 0: must be a positive whole number"),
        ("ops --batch 3 --context 1,2", "--batch 3: 2 contexts are given, one per sequence"),
        ("ops --context 0", "context = 0: must be a positive whole number"),
        ("ops --context 1,,2", "argument --context: '' is not a whole number"),
        ("ops --tokens 0", "tokens = 0: must be a positive whole number"),
        ("ops --tokens 4096",
         "L = 4096: under a causal mask the queries are among the S = 2048 cached tokens, so at most 2048"),
        (f"ops --batch 1{'0' * 400}", "a number is too large"),
        (f"ops --batch 1{'0' * 5000}", f"argument --batch: '1{'0' * 5000}' is not a whole number"),
        ("ops --tp 3", "t = 3: must divide n_q (28)"),
        ("ops --dtype fp4",
         "dtype = 'fp4': must be 'bf16' or 'fp16' or 'fp16acc' or 'fp8' or 'fp8acc' or 'int8' or 'tf32' or 'fp32'"),
        ("ops --dtype fp16acc --hardware h100-sxm",
         "dtype = 'fp16acc': must be 'bf16' or 'fp16' or 'fp8' or 'int8' or 'tf32' or 'fp32'"),
        ("ops --mla absorbed", "mla = 'absorbed': Qwen2.5-7B-Instruct has no latent attention"),
        ("ops --mla absorb --model deepseek-v3",
         "argument --mla: 'absorb' is none of absorbed, expanded; did you mean 'absorbed'?"),
        ("ops --attention fp8 --hardware a10",
         "dtype = 'fp8': must be 'bf16' or 'fp16' or 'int8' or 'tf32' or 'fp32'"),
        ("ops --json --csv", "argument --csv: not allowed with argument --json"),
        ("ops --model /nowhere/config.json", "/nowhere/config.json: No such file or directory"),
        ("sweep --context 1,2", "--context: a sweep takes one; give several with --over context --values 512,1024"),
        ("sweep --values 0", "batch = 0: must be a positive whole number"),
        ("cross --batch 0", "batch = 0: must be a positive whole number"),
        ("cross --context 0", "context = 0: must be a positive whole number"),
        ("plot --output chart.bmp", "--output chart.bmp: must end in .svg or .png"),
    ],
)
def test_wrong_input_is_one_line_with_the_nearest_name(refusal, line, message):
    if line.startswith("plot"):
        pytest.importorskip("roofline_calc.figure")
    found = refusal(line)
    assert found == message or found.startswith(f"{message};")


def test_wrong_data_types_name_the_nearest(refusal):
    assert refusal("ops --dtype fp9").endswith("did you mean 'fp8'?")
    assert refusal("ops --weights int3-g128").endswith("did you mean 'int8'?")
    assert refusal("ops --kv bf61").endswith("did you mean 'bf16'?")


def test_help_shows_examples_that_run(cli, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    examples = re.findall(r"^  roofline-calc (.*?)(?:  .*| \|.*)?$", text, re.MULTILINE)
    assert len(examples) >= 6
    for example in examples:
        if "path/to" not in example:
            cli(example)


# ------------------------------------------------------------------- as a program


def program(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "roofline_calc", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ | environment, check=False)


def test_as_a_program():
    good, bad = program("ops"), program("opps")
    assert (good.returncode, good.stderr) == (0, "")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="pipes differ")
def test_a_reader_that_stops_early_is_no_error():
    command = f"{sys.executable} -m roofline_calc sweep --json | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.stdout, done.stderr) == ("{\n", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_only_on_a_terminal_that_wants_it(monkeypatch, environment, coloured):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert main(["ops"]) == 0
    assert ("\x1b[34mmemory-bound" in sys.stdout.getvalue()) == coloured


def test_plot_without_matplotlib_is_one_line(refusal, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "roofline_calc.figure", raising=False)
    assert refusal("plot").startswith("plot needs matplotlib: pip install 'roofline-calc[figure]'")


def test_cross_with_narrow_activations(cli):
    """X is one byte wide for a projection under W8A8, two for router and lm_head."""
    data = as_json(cli, "cross --model mixtral-8x7b --hardware h200 --dtype fp8")
    limits = {row["operator"]: row["limit"] for row in data["linear_layers"]}
    assert limits["q_proj"] == gemm_limit(4096, 4096, 1, 2)
    assert limits["router"] == gemm_limit(4096, 8)
    assert limits["lm_head"] == gemm_limit(4096, 32000)


def test_kernels_at_one_place_share_a_label():
    rows = [{"operator": name, "intensity": I} for name, I in
            [("up_proj", 236.0), ("q_proj", 224.0), ("k_proj", 162.9), ("attention", 7.0), ("norms", 0.9)]]
    assert labelled(rows) == [("attention", 7.0), ("k_proj", 162.9), ("q_proj\nup_proj", 224.0), ("", 236.0)]


def test_plot_writes_a_chart(cli, tmp_path):
    pytest.importorskip("roofline_calc.figure")
    path = tmp_path / "chart.svg"
    assert f"chart             {path}" in cli(f"plot --batch 256 --output {path}")
    assert path.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_plot_writes_an_image(cli, tmp_path):
    path = tmp_path / "chart.png"
    assert f"chart             {path}" in cli(f"plot --hardware b200 --output {path}")
    assert path.read_bytes().startswith(b"\x89PNG")
