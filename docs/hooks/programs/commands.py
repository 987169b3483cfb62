"""What a Python command prints, run as the program itself would be, in this process where that can be done.

Most programs of the pages take less time than Python's start.
"""

import contextlib
import io
import os
import runpy
import shlex
import subprocess
import sys
import traceback
from pathlib import Path


class CommandError(Exception):
    """A command that is none of ours, or that ended badly; says how."""


def printed_by(command: str) -> str:
    """What ``python -m MODULE …`` or ``python FILE …`` prints; other options of Python get a process of their own.

    Raises:
        CommandError: it is no ``python …`` command, or it ended with another status than 0.
    """
    program, *arguments = shlex.split(command) or [""]
    if program != "python":
        raise CommandError(f"an output block holds one command that begins with `python`, not {command!r}")
    status, printed, complaints = _run(arguments) if _has_a_program(arguments) else _run_apart(arguments)
    if status:
        raise CommandError(f"`{command}` ended with status {status}:\n{complaints.strip()}")
    return printed


def _has_a_program(arguments: list[str]) -> bool:
    match arguments:
        case ["-m", _, *_]:
            return True
        case [file, *_]:
            return not file.startswith("-")
    return False


def _run(arguments: list[str]) -> tuple[int, str, str]:
    """Exit status, output and complaints of a program run in this process."""
    argv, path, folder = sys.argv, list(sys.path), Path.cwd()
    out, complaints = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaints):
        try:
            if arguments[0] == "-m":
                sys.argv = arguments[1:]
                runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
            else:
                sys.argv = arguments
                sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
                runpy.run_path(arguments[0], run_name="__main__")
            status = 0
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
            if isinstance(ended.code, str):
                complaints.write(ended.code)
        except Exception:
            traceback.print_exc()
            status = 1
        finally:
            sys.argv, sys.path[:] = argv, path
            os.chdir(folder)
    return status, out.getvalue(), complaints.getvalue()


def _run_apart(arguments: list[str]) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout, done.stderr
