"""Evaluate replacement fields of f-strings with the names of roofline_calc and those of published measurements.

For the field ``expression:format`` of an f-string the answer is ``{"text": …, "value": …, "expression": …}``, with
``"state"`` where the explorer can show it, or ``{"error": …}``.
"""

import ast
from typing import Any

import states

import roofline_calc
from snippets.published.measurements import measured, measurements, published_speed

NAMES = {name: getattr(roofline_calc, name) for name in roofline_calc.__all__} | {
    function.__name__: function for function in (measured, measurements, published_speed)
}


def evaluate(field: str) -> dict[str, str]:
    """One field's text as an f-string shows it, its value in full, and the expression alone."""
    try:
        tree = ast.parse(f"f'''{{{field}}}'''", mode="eval")
        match tree.body:
            case ast.JoinedStr(values=[ast.FormattedValue(value=expression)]):
                pass
            case _:
                raise SyntaxError("not one f-string replacement field, as in {{ expression:.1f }}")
        value = _value(expression)
        answer = {"text": _eval(tree), "value": str(value), "expression": ast.unparse(expression)}
        state = states.query_of(expression, value, _value)
        return answer if state is None else answer | {"state": state}
    except Exception as error:  # whatever an author's expression can raise; the build names it
        return {"error": f"{type(error).__name__}: {error}"}


def _value(expression: ast.expr) -> Any:
    return _eval(ast.Expression(expression))


def _eval(tree: ast.Expression) -> Any:
    return eval(compile(ast.fix_missing_locations(tree), "<page>", "eval"), dict(NAMES))

