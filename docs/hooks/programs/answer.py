"""The calculator's process: answers the build's questions, each a JSON line in and a JSON line out.

    {"ask": "number", "about": "gemm_intensity(256, 3584, 512):.1f", "sources": "…"}   see `evaluate`
    {"ask": "printed", "about": "python snippets/calculator.py", "sources": "…"}       see `commands`

The answer is ``{"answer": …}`` or ``{"error": …}``. What takes long to import (matplotlib, SymPy) stays; the project's
own modules are forgotten whenever ``sources``, a digest of them, changes, so that no answer comes from old code.
"""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
OWN = tuple(str(folder) + os.sep for folder in (ROOT / "roofline_calc", ROOT / "snippets", HERE))
FUNCTIONS = {
    "number": ("evaluate", "evaluate"),
    "printed": ("commands", "printed_by"),
}


def forget_own_modules() -> None:
    """Have the project's modules read again when they are next imported."""
    for name, module in list(sys.modules.items()):
        if name != "__main__" and str(getattr(module, "__file__", None)).startswith(OWN):
            del sys.modules[name]
    importlib.invalidate_caches()


def answer(ask: str, about: str) -> dict[str, Any]:
    """One question's answer, or what went wrong."""
    module, function = FUNCTIONS[ask]
    try:
        return {"answer": getattr(importlib.import_module(module), function)(about)}
    except Exception as error:  # whatever the project's code can raise; the build says on which page
        return {"error": str(error)}


def main() -> None:
    """Answer until there is nothing more to read."""
    # What a program writes past sys.stdout must not come between the answers, nor may it read the questions.
    questions, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    seen = None
    for line in questions:
        question = json.loads(line)
        if question["sources"] != seen:
            forget_own_modules()
            seen = question["sources"]
        print(json.dumps(answer(question["ask"], question["about"])), file=answers, flush=True)


if __name__ == "__main__":
    main()
