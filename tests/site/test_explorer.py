"""The explorer's JavaScript is made from the calculator: ordinary code is traced, and follows every change of it."""

import json
import math
import os
import re
import subprocess
import sys
from typing import Any

import explorer_js
import pytest
import symbolic
from support import mkdocs_build
from symbolic import TraceError, function, positive, trace, whole

# ------------------------------------------------------------------------------------------------ tracing

x, n = positive("x"), whole("n")


def test_ordinary_code_is_traced_as_it_stands():
    def f() -> dict[str, Any]:
        if x > 10:
            return {"size": "large", "value": min(x, 100)}
        return {"size": "small", "value": n % 1}

    assert function("f", f) == (
        '({x}) => {const x0 = x > 10; return {"size": (x0 ? "large" : "small"), '
        '"value": (x0 ? (x > 100 ? 100 : x) : 0)};}'
    )


def test_what_occurs_once_is_written_in_its_place():
    assert function("f", lambda: {"twice": 2 * x, "limited": min(n, 100)}) == (
        '({n, x}) => ({"twice": 2*x, "limited": (n > 100 ? 100 : n)})'
    )


def test_an_outcome_outside_the_domain_is_left_out():
    def f() -> Any:
        if n % 4 or x > 5:
            raise ValueError("refused")
        return x * n

    assert trace(f) == x * n


def test_a_function_that_refuses_everything_or_cannot_be_traced_is_named():
    def never() -> Any:
        raise ValueError("no such thing")

    with pytest.raises(TraceError, match=r"^never cannot be turned into JavaScript: ValueError: no such thing$"):
        function("never", never)
    with pytest.raises(TraceError, match=r"^root cannot be turned into JavaScript: TypeError: Cannot convert"):
        function("root", lambda: math.sqrt(x))
    with pytest.raises(TraceError, match=r"^odd cannot be turned into JavaScript: TraceError: its result holds \["):
        function("odd", lambda: [x])


def test_comparisons_are_as_before_after_a_trace():
    assert not hasattr(symbolic.sp.Mod, "__bool__")
    with pytest.raises(TypeError, match="cannot determine truth value"):
        bool(x > n)


def test_a_function_that_cannot_be_traced_stops_the_build(one_page, tmp_path):
    source = one_page / "roofline_calc" / "operators.py"
    text = source.read_text(encoding="utf-8")
    broken = text.replace("return Cost(flops=2 * M * K * N,", "return Cost(flops=int(2 * M * K * N),")
    assert broken != text
    source.write_text(broken, encoding="utf-8")
    done = mkdocs_build(one_page, tmp_path / "site")
    assert done.returncode != 0
    assert "Model.linear_costs (dense) cannot be turned into JavaScript: TypeError" in done.stderr


def test_a_formula_that_changes_changes_the_javascript(copy):
    """With no other edit; every structure of model follows."""

    def generated() -> str:
        done = subprocess.run(
            [sys.executable, "docs/hooks/programs/explorer_js.py"],
            cwd=copy, env=os.environ | {"PYTHONPATH": str(copy)},
            capture_output=True, text=True, encoding="utf-8", check=True,
        )
        code: str = json.loads(done.stdout)["calc.js"]
        return code

    before = generated()
    source = copy / "roofline_calc" / "operators.py"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("flops=2 * M * K * N", "flops=3 * M * K * N"), encoding="utf-8")
    after = generated()
    structures = len(explorer_js.structures())
    lm_heads = [re.findall(r'{"lm_head": {"flops": (\d)\*', code) for code in (before, after)]
    assert lm_heads == [["2"] * structures, ["3"] * structures]
