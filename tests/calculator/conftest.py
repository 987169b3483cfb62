"""The values that the formulas are held to."""

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def oracles() -> Any:
    """Values worked out with exact rational arithmetic by other hands than the calculator's."""
    return json.loads((Path(__file__).parent / "oracles.json").read_text(encoding="utf-8"))
