"""The command line, run in this process."""

import pytest

from roofline_calc.__main__ import main


@pytest.fixture
def cli(capsys):
    """Run a command line in this process: its output, which must come without complaint."""

    def run(line: str) -> str:
        assert main(line.split()) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return run


@pytest.fixture
def refusal(capsys):
    """Run a wrong command line: its one line on stderr, after the program's name."""

    def run(line: str) -> str:
        assert main(line.split()) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("roofline-calc: ")
        assert err.count("\n") == 1
        return err.removeprefix("roofline-calc: ").removesuffix("\n")

    return run
