import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def oracles() -> dict[str, Any]:
    """Values worked out with exact rational arithmetic by other hands than the calculator's."""
    return json.loads((ROOT / "tests" / "oracles.json").read_text(encoding="utf-8"))
