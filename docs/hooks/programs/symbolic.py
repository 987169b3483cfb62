"""Run a Python function on symbols, and write what it computes as JavaScript.

A comparison of symbols has no truth value, so `if`, `min` and `max` would stop such a run. Here an undecided
comparison forks it: the function runs once for each outcome, and the results become the branches of one expression.
An outcome for which the function raises ValueError lies outside its domain and is left out, so that argument checks
need no special care: ordinary code is traced as it stands.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import sympy as sp
from sympy.core.relational import Relational
from sympy.simplify.cse_main import tree_cse


class TraceError(Exception):
    """A function cannot be written in JavaScript; says which and why."""


class Branch(NamedTuple):
    """One of two results, by a condition on the symbols."""

    condition: Any
    yes: Any
    no: Any


class _Undecided(Exception):  # noqa: N818  a message from a comparison to `trace`, no error
    def __init__(self, condition: Any) -> None:
        self.condition = condition


def whole(name: str) -> sp.Symbol:
    """A positive whole number."""
    return sp.Symbol(name, integer=True, positive=True)


def flag(name: str) -> sp.Symbol:
    """A number that is 0 or 1."""
    return sp.Symbol(name, integer=True, nonnegative=True)


def positive(name: str) -> sp.Symbol:
    """A positive finite number."""
    return sp.Symbol(name, positive=True)


@contextmanager
def _decided(known: Mapping[Any, bool]) -> Iterator[None]:
    """Comparisons take the truth values in ``known``; any other one raises `_Undecided`."""

    def truth(condition: Any) -> bool:
        if condition in known:
            return known[condition]
        if ~condition in known:
            return not known[~condition]
        raise _Undecided(condition)

    def remainder(value: Any) -> bool:  # `if n_q % n_kv:`
        return bool(sp.Ne(value, 0))

    before = Relational.__bool__
    Relational.__bool__, sp.Mod.__bool__ = truth, remainder
    try:
        yield
    finally:
        Relational.__bool__ = before
        del sp.Mod.__bool__


def trace(call: Callable[[], Any], known: Mapping[Any, bool] | None = None) -> Any:
    """The value of ``call()``, or a `Branch` of values.

    Args:
        known: truth values of comparisons, taken for granted.

    Raises:
        ValueError: the call raises it on every branch.
    """
    known = known or {}
    try:
        with _decided(known):
            return call()
    except _Undecided as undecided:
        condition = undecided.condition
    found: list[Any] = []
    for outcome in (True, False):
        try:
            found.append(trace(call, {**known, condition: outcome}))
        except ValueError as refused:
            found.append(refused)
    yes, no = found
    if isinstance(yes, ValueError):
        yes = no
    if isinstance(no, ValueError):
        no = yes
    if isinstance(yes, ValueError):
        raise yes
    return _branch(condition, yes, no)


def _branch(condition: Any, yes: Any, no: Any) -> Any:
    """A branch where the two differ; of two dictionaries, value by value."""
    if isinstance(yes, dict) and isinstance(no, dict) and yes.keys() == no.keys():
        return {key: _branch(condition, yes[key], no[key]) for key in yes}
    return yes if yes == no else Branch(condition, yes, no)


def javascript(value: Any) -> str:
    """A traced value as a JavaScript expression."""
    match value:
        case Branch(condition, yes, no):
            return f"({_code(condition)} ? {javascript(yes)} : {javascript(no)})"
        case dict():
            return "{" + ", ".join(f"{json.dumps(str(key))}: {javascript(item)}" for key, item in value.items()) + "}"
        case None | bool() | str():
            return json.dumps(value, ensure_ascii=False)
        case int() | float() | sp.Basic():
            return _code(value)
    raise TraceError(f"its result holds {value!r}")


def _code(value: Any) -> str:
    code: str = sp.jscode(sp.sympify(value))
    if code.startswith("//"):  # SymPy's way of saying that it could not
        raise TraceError(f"{value!r} has no JavaScript")
    return code


def function(name: str, call: Callable[[], Any], known: Mapping[Any, bool] | None = None) -> str:
    """``({a, b}) => …`` for a call on symbols; its parameters are the symbols that it uses.

    What occurs several times in the result is computed once.

    Raises:
        TraceError: the call asks something of a symbol that has no answer, or gives what JavaScript cannot say.
    """
    try:
        value = trace(call, known)
        parts = _expressions(value)
        common, parts = tree_cse(parts, sp.numbered_symbols("x"), order="none")  # without factoring: gzip likes it
        lines = [f"const {symbol} = {_code(part)};" for symbol, part in common]
        body = javascript(_filled(value, iter(parts)))
    except Exception as error:  # whatever a function of numbers can do with a symbol
        raise TraceError(f"{name} cannot be turned into JavaScript: {type(error).__name__}: {error}") from error
    parameters = ", ".join(sorted({symbol.name for part in _expressions(value) for symbol in part.free_symbols}))
    computed = f"{{{' '.join([*lines, f'return {body};'])}}}" if lines else f"({body})"
    return f"({{{parameters}}}) => {computed}"


def _expressions(value: Any) -> list[Any]:
    """All expressions in a traced value, in order."""
    match value:
        case Branch():
            return [found for part in value for found in _expressions(part)]
        case dict():
            return [found for part in value.values() for found in _expressions(part)]
        case sp.Basic():
            return [value]
    return []


def _filled(value: Any, expressions: Iterator[Any]) -> Any:
    """The same value with other expressions in the place of its own."""
    match value:
        case Branch():
            return Branch(*[_filled(part, expressions) for part in value])
        case dict():
            return {key: _filled(part, expressions) for key, part in value.items()}
        case sp.Basic():
            return next(expressions)
    return value
