"""Run Python commands and say what each prints: a JSON list of commands in, a JSON list of outputs out.

Run by the build in a subprocess: one for all commands, since most of them take less time than Python's start. The
first that fails ends it.
"""

import contextlib
import io
import json
import runpy
import shlex
import sys
from pathlib import Path


def printed_by(command: str) -> str:
    """What ``python -m MODULE …`` or ``python FILE …`` prints, run as the program itself would be.

    Raises:
        SystemExit: it ended with another status than 0.
    """
    _, *arguments = shlex.split(command)
    argv, path = sys.argv, list(sys.path)
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            if arguments[0] == "-m":
                sys.argv = arguments[1:]
                runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
            else:
                sys.argv = arguments
                sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
                runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        sys.argv, sys.path[:] = argv, path
    return out.getvalue()


if __name__ == "__main__":
    print(json.dumps([printed_by(command) for command in json.load(sys.stdin)]))
