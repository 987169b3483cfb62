"""The explorer's arithmetic is the calculator's, in JavaScript, and what it starts from is the snippet's."""

import json
import math
import random
import re
from dataclasses import replace
from typing import Any

import explorer_js
import pytest
from explorer_js import EXPLORED, LIMITS, MASKS, SHAPE_FIELDS, TRAFFICS, WIDTH_FIELDS
from support import ROOT

from roofline_calc import ACCELERATORS, MODELS, QWEN, Precision, Stored, analyse, attainable, crossings
from roofline_calc.__main__ import main
from roofline_calc.analysis import Roofs


def test_the_catalogue_is_given_but_for_layers_of_several_kinds():
    presets = explorer_js.presets()
    assert list(presets["models"]) == list(EXPLORED)
    assert set(MODELS) - set(EXPLORED) == {
        "qwen3-next-80b-a3b", "qwen3.5-27b", "qwen3.5-35b-a3b", "qwen3.5-397b-a17b",
        "gemma-4-e4b", "gemma-4-26b-a4b", "gemma-4-31b", "deepseek-v3.2", "glm-5",
        "nemotron-3-nano", "nemotron-3-super", "granite-4.0-h-small",
    }
    for key, card in ACCELERATORS.items():
        found = presets["accelerators"][key]
        assert (found["name"], found["maker"], found["bandwidth"]) == (card.name, card.maker, card.bandwidth)
        for dtype, peaks in found["peaks"].items():
            assert (*peaks, card.bandwidth) == Roofs.of(card, dtype)[:3]
    assert presets["models"]["deepseek-v3"]["sizes"]["moe_experts"] == MODELS["deepseek-v3"].moe.experts
    assert set(presets["accelerators"]["rtx-4090"]["peaks"]) == set(ACCELERATORS["rtx-4090"].peak)


def _between(random_: random.Random, field: str, high: float | None = None) -> float:
    """Anywhere in a field's range, each order of magnitude as likely as another."""
    low, most = LIMITS[field]
    value = math.exp(random_.uniform(math.log(low), math.log(high or most)))
    return value if field in WIDTH_FIELDS else round(value)


def random_state(random_: random.Random) -> dict[str, Any]:
    """A setting of the explorer's knobs, as its state holds it."""
    state: dict[str, Any] = {
        "model": random_.choice([*EXPLORED, *["custom"] * 12]), "accelerator": random_.choice(list(ACCELERATORS)),
        "mask": random_.choice(MASKS), "traffic": random_.choice(TRAFFICS), "fused": random_.random() < 0.5,
        **{field: _between(random_, field) for field in (*SHAPE_FIELDS, *WIDTH_FIELDS, "batch", "context")},
    }
    if random_.random() < 0.5:
        state |= {field: random_.choice([0.5, 1, 2, 4]) for field in WIDTH_FIELDS}
    for field in ("weights", "kv"):
        if random_.random() < 0.5:
            state[field] = None  # as stored
    state["n_q"] = state["n_kv"] * math.floor((LIMITS["n_q"][1] / state["n_kv"]) ** random_.random())
    causal = state["mask"] == "causal" or state["model"] != "custom"
    state["query_tokens"] = random_.choice(
        [1, state["context"], _between(random_, "query_tokens", state["context"] if causal else None)]
    )
    state["dtype"] = random_.choice(list(explorer_js.peaks_of(ACCELERATORS[state["accelerator"]])))
    return state


def expected(state: dict[str, Any]) -> dict[str, Any]:
    """What roofline_calc says of a state, without the explorer's own code."""
    model = MODELS["qwen2.5-7b"] if state["model"] == "custom" else MODELS[state["model"]]
    if state["model"] == "custom":
        model = replace(model, **{field: state[field] for field in SHAPE_FIELDS})
    card, dtype, L = ACCELERATORS[state["accelerator"]], state["dtype"], state["query_tokens"]
    stored = {
        name: part if part.multiplies in card.peak else Stored(part.width) for name, part in model.stored.items()
    }
    widths = Precision(
        weights=state["weights"] or model.bytes_per_element, activations=state["activations"],
        kv=state["kv"] or model.kv_width or model.bytes_per_element, others=state["activations"],
        modules={} if state["weights"] else stored,
    )
    how = {"fused": state["fused"], "precision": widths}
    step = model.step({(L, state["context"]): state["batch"]}, mask=state["mask"], traffic=state["traffic"], **how)
    report, crossing = analyse(step, card, dtype), crossings(model, card, dtype=dtype, **how)
    weights, kv = model.weight_bytes(widths), state["batch"] * model.cache_bytes([state["context"]], widths)
    return {
        "memory": [weights, kv, weights + kv, weights + kv <= card.memory],
        "times": [
            report.lower_bound, report.kernel_by_kernel, state["batch"] * L / report.lower_bound,
            state["batch"] * L / report.kernel_by_kernel,
        ],
        "rows": {
            row.operator: [
                row.cost.flops, row.cost.bytes, row.cost.intensity, row.seconds, report.share(row),
                attainable(row.cost.intensity, report.roofs.peak(row.operator), card.bandwidth), row.regime,
                crossing.get(row.operator, "no linear layer"),
            ] for row in report.rows
        },
    }


COMPARE = """
async ([assets, cases]) => {
  const { Explorer } = await import(assets + "explorer-state.js"), calc = await import(assets + "calc.js");
  const explorer = new Explorer(calc, await (await fetch(assets + "presets.json")).json());
  let worst = 0, calls = 0;
  const wrong = [];
  for (const [state, expected] of cases) {
    const same = (a, b, what) => {
      const near = typeof b === "number" ? Math.abs(a / b - 1) : a === b ? 0 : 1;
      worst = Math.max(worst, near);
      if (!(near <= 1e-12) && wrong.length < 5) wrong.push([what, a, b, state]);
    };
    const { rows, step, rates, memory } = explorer.compute(state);
    const held = [memory.weights, memory.kv, memory.needed, memory.fits];
    held.forEach((value, i) => same(value, expected.memory[i], `memory ${i}`));
    const times = [step.lower_bound, step.kernel_by_kernel, ...rates];
    times.forEach((time, i) => same(time, expected.times[i], `time ${i}`));
    same(rows.map((row) => row.operator).join(), Object.keys(expected.rows).join(), "operators");
    for (const row of rows) {
      const found = [row.flops, row.bytes, row.intensity, row.seconds, step.share[row.operator], row.attainable,
                     row.regime, row.crossing === undefined ? "no linear layer" : row.crossing];
      found.forEach((value, i) => same(value, expected.rows[row.operator][i], `${row.operator} ${i}`));
    }
    calls += 9 + 2 * rows.length + Object.values(expected.rows).filter((row) => row[7] !== "no linear layer").length;
    if (Object.keys(explorer.problems(state)).length) wrong.push(["refused", explorer.problems(state), state]);
  }
  return { worst, calls, wrong };
}
"""


def test_generated_javascript_equals_python(browser, site, served):
    """100,000 calls and more, over the whole domain of every knob: relative difference at most 1e-12, regimes equal."""
    random_ = random.Random(2009)
    page = browser.new_page()
    page.goto(served)
    calls, worst, wrong = 0, 0.0, []
    while calls < 100_000:
        states = [random_state(random_) for _ in range(500)]
        found = page.evaluate(COMPARE, [served + "assets/", [[state, expected(state)] for state in states]])
        calls, worst = calls + found["calls"], max(worst, found["worst"])
        wrong += found["wrong"]
    page.close()
    print(f"{calls:,} calls, worst relative difference {worst:.1e}")
    assert wrong == []


ANSWER = """
async ([assets, states]) => {
  const { Explorer } = await import(assets + "explorer-state.js"), calc = await import(assets + "calc.js");
  const explorer = new Explorer(calc, await (await fetch(assets + "presets.json")).json());
  return states.map((state) => {
    const { rows, step, memory } = explorer.compute({ ...explorer.start, ...state });
    const seconds = Object.fromEntries(rows.map((row) => [row.operator, row.seconds]));
    return { ...seconds, lower_bound: step.lower_bound, kernel_by_kernel: step.kernel_by_kernel, ...memory };
  });
}
"""


def random_question(random_: random.Random) -> tuple[dict[str, Any], str]:
    """A state of the explorer in which widths and data types are left to the checkpoint or given, and as options."""
    model, accelerator = random_.choice(list(EXPLORED)), random_.choice(list(ACCELERATORS))
    state: dict[str, Any] = {
        "model": model, "accelerator": accelerator, "traffic": random_.choice(TRAFFICS),
        "fused": random_.random() < 0.5, "batch": _between(random_, "batch"), "context": _between(random_, "context"),
        "dtype": next(iter(explorer_js.peaks_of(ACCELERATORS[accelerator]))),
    }
    words = [f"--{option} {state[knob]}" for option, knob in (
        ("model", "model"), ("hardware", "accelerator"), ("traffic", "traffic"), ("batch", "batch"),
        ("context", "context"),
    )]
    if random_.random() < 0.5:
        state["query_tokens"] = _between(random_, "query_tokens", state["context"])
        words.append(f"--phase prefill --tokens {state['query_tokens']}")
    if random_.random() < 0.3:
        state["weights"] = 0.515625
        words.append("--weights int4-g128")
    if random_.random() < 0.3:
        state["kv"] = 1
        words.append("--kv fp8")
    return state, " ".join([*words, *["--fused"] * state["fused"]])


def test_the_command_line_says_the_same(browser, site, served, capsys):
    """Each operator's time, lower bound, kernel by kernel, memory and whether it fits: relative difference 1e-12."""
    random_ = random.Random(1969)
    asked = [random_question(random_) for _ in range(400)]
    asked.append(({"model": "deepseek-v3", "accelerator": "h100-sxm", "batch": 64, "context": 4096},
                  "--model deepseek-v3 --hardware h100-sxm --batch 64 --context 4096"))
    page = browser.new_page()
    page.goto(served)
    shown = page.evaluate(ANSWER, [served + "assets/", [state for state, _ in asked]])
    page.close()
    narrow = 0
    for found, (state, options) in zip(shown, asked, strict=True):
        assert main(["ops", "--json", *options.split()]) == 0
        said = json.loads(capsys.readouterr().out)
        expected = {row["operator"]: row["seconds"] for row in said["operators"]} | {
            "lower_bound": said["total"]["lower_bound"], "kernel_by_kernel": said["total"]["kernel_by_kernel"],
            "weights": said["weights_resident"], "kv": said["kv_bytes"],
            "needed": said["weights_resident"] + said["kv_bytes"], "fits": said["fits"],
        }
        assert found == pytest.approx(expected, rel=1e-12), (state, options)
        narrow += any(part["multiplies"] for part in said["modules"].values())
    assert narrow >= 3
    assert {found["fits"] for found in shown} == {True, False}


def test_python_refuses_what_the_explorer_refuses():
    with pytest.raises(ValueError, match="n_q = 28: must be a multiple of n_kv"):
        replace(QWEN, n_kv=5)
    with pytest.raises(ValueError, match="L = 513: under a causal mask"):
        QWEN.step({(513, 512): 1})


def test_the_snippet_is_the_first_state():
    namespace: dict[str, Any] = {}
    exec(compile((ROOT / "snippets" / "explorer.py").read_text(encoding="utf-8"), "explorer.py", "exec"), namespace)
    start = explorer_js.DEFAULTS
    assert namespace["model"] is MODELS[start["model"]]
    assert namespace["accelerator"] is ACCELERATORS[start["accelerator"]]
    numbers = start.keys() - {"model", "accelerator"}
    assert {knob: namespace[knob] for knob in numbers} == {knob: start[knob] for knob in numbers}
    found = expected(start)
    assert namespace["report"].kernel_by_kernel == found["times"][1] == pytest.approx(29.5e-3, rel=2e-3)  # §3.3


def test_every_knob_has_its_place_in_the_program():
    """The knobs that `random_state` turns: the start knows each, and the program says it."""
    turned = random_state(random.Random(0)).keys()
    assert explorer_js.DEFAULTS.keys() == turned - set(SHAPE_FIELDS)
    programs = explorer_js.presets()["programs"]
    assert sorted(re.findall(r"<(\w+)>", programs["catalogue"])) == sorted(turned - set(SHAPE_FIELDS))
    assert sorted(re.findall(r"<(\w+)>", programs["custom"])) == sorted(turned - {"model"})
