"""Importing the formulas costs little: no third-party module, no file read before it is asked for."""

import subprocess
import sys

import pytest
from support import ROOT

import roofline_calc


def loaded(statement: str) -> set[str]:
    """Modules that a statement brings into an interpreter without site-packages."""
    code = f"import sys; sys.path.insert(0, '.'); before = set(sys.modules); {statement}; "
    code += "print(*set(sys.modules) - before)"
    command = [sys.executable, "-I", "-S", "-c", code]
    return set(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.split())


def test_only_the_standard_library_is_imported():
    """The catalogue and the command line, too."""
    for statement in ("import roofline_calc", "from roofline_calc import *", "import roofline_calc.__main__"):
        top = {name.partition(".")[0] for name in loaded(statement)}
        assert top - sys.stdlib_module_names - {"roofline_calc"} == set()


def test_the_catalogue_is_read_on_first_use():
    later = {"tomllib", "pathlib", "json", "argparse", "roofline_calc.catalog", "roofline_calc.model"}
    assert later.isdisjoint(loaded("import roofline_calc"))
    assert {"tomllib", "roofline_calc.catalog"} <= loaded("from roofline_calc import QWEN")


def test_every_public_name_is_there():
    for name in roofline_calc.__all__:
        assert getattr(roofline_calc, name) is not None
    assert set(roofline_calc.__all__) <= set(dir(roofline_calc))
    with pytest.raises(AttributeError, match=r"^module 'roofline_calc' has no attribute 'QWENN'$"):
        _ = roofline_calc.QWENN
