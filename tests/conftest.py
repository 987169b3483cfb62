"""What tests are lent: one built site for all, served by the process that starts them, and copies of its sources."""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import missing, not_run
from calculator_process import Calculator
from filelock import FileLock
from support import LANGUAGES, ROOT, Server, copy_into, mkdocs_build

PLACE = pytest.StashKey[tuple[Path, str]]()  # the folder that holds the site, and the address at which it is served


class Served:
    """Lives in the process that starts the tests, and tells the workers of pytest-xdist where the site is."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.server = folder, Server(folder / "site")

    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["place"] = str(self.folder), self.server.address

    def pytest_unconfigure(self) -> None:
        self.server.stop()
        shutil.rmtree(self.folder)


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        folder, address = config.workerinput["place"]
        config.stash[PLACE] = Path(folder), address
    else:
        served = Served(Path(tempfile.mkdtemp(prefix="operator-roofline-")))
        config.pluginmanager.register(served)
        config.stash[PLACE] = served.folder, served.server.address


def pytest_unconfigure(config: pytest.Config) -> None:
    """End with a line that says which tests did not run for want of a browser, and what would run them."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter and not hasattr(config, "workerinput") else []
    if tests := [report.nodeid for report in skipped if str(report.longrepr).endswith("is missing')")]:
        reporter.write_line(not_run(tests, missing()))


@pytest.fixture(scope="session")
def served(pytestconfig: pytest.Config) -> str:
    """The address at which the site is served, and for which it is built: canonical links must lead there."""
    return pytestconfig.stash[PLACE][1]


@pytest.fixture(scope="session")
def site(pytestconfig: pytest.Config, served: str) -> Path:
    """The strict build of both languages: one for all workers, made by the first that needs it."""
    place = pytestconfig.stash[PLACE][0]
    site, unfinished = place / "site", place / "unfinished"
    with FileLock(place / "lock"):
        if not site.is_dir():
            done = mkdocs_build(ROOT, unfinished, served)
            assert done.returncode == 0, done.stderr
            unfinished.rename(site)
    return site


@pytest.fixture(scope="session")
def calculator() -> Iterator[Calculator]:
    """The process that answers the build."""
    calculator = Calculator()
    yield calculator
    calculator.close()


@pytest.fixture(scope="session")
def oracles() -> Any:
    """Values worked out with exact rational arithmetic by other hands than the calculator's."""
    return json.loads((ROOT / "tests" / "calculator" / "oracles.json").read_text(encoding="utf-8"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of all that the build reads, for a test to break: as new as a clone, so that its first build is cold."""
    return copy_into(tmp_path)


@pytest.fixture
def built_copy(copy: Path, site: Path) -> Path:
    """A copy that keeps what an earlier build has computed, as an author's does."""
    shutil.copytree(ROOT / ".cache", copy / ".cache")
    return copy


PAGE = """\
# One page { #one }

Above {{ RIDGE:.0f }} FLOP/byte, \\(I > I^*\\).
"""


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose site has one page beside the notebook that is downloaded, and is as it should be."""
    root = copy_into(tmp_path_factory.mktemp("sound"))
    for language in LANGUAGES:
        for page in (root / "docs" / language).glob("*.md"):
            page.unlink()
        (root / "docs" / language / "index.md").write_text(PAGE, encoding="utf-8")
    settings = (root / "mkdocs.yml").read_text(encoding="utf-8")
    without_nav = re.sub(r"^nav:.*\n(?: .*\n)*", "", settings, flags=re.MULTILINE)
    assert without_nav != settings
    (root / "mkdocs.yml").write_text(without_nav, encoding="utf-8")
    done = mkdocs_build(root, tmp_path_factory.mktemp("site"))
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture
def one_page(sound: Path, tmp_path: Path) -> Path:
    """A copy of it in which a mistake can be made: whatever then stops the build is the mistake."""
    return shutil.copytree(sound, tmp_path, symlinks=True, dirs_exist_ok=True)
