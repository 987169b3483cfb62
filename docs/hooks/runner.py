"""Run one program of a page as ``python FILE`` would. The browser runs this inside Pyodide; any CPython can."""

import linecache
import sys
import traceback
from types import ModuleType


def run(code: str, name: str, missing: str) -> bool:
    """Whether the program ended well; what it prints, a traceback included, goes to ``sys.stdout`` and ``sys.stderr``.

    Each run is a ``__main__`` of its own. A traceback shows the program's own lines under its own name, and none of
    this module's.

    Args:
        code: the program. name: the file name under which the page shows it.
        missing: what to add where a module cannot be imported.
    """
    linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name
    before, sys.argv = sys.modules["__main__"], [name]
    main = sys.modules["__main__"] = ModuleType("__main__")  # dataclasses, for one, look their module up
    main.__file__ = name
    try:
        exec(compile(code, name, "exec"), main.__dict__)
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
        return not stop.code
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError):
            error.add_note(missing)
        own = error.__traceback__
        sys.stdout.flush()
        traceback.print_exception(error.with_traceback(own and own.tb_next))
        return False
    finally:
        sys.modules["__main__"] = before
        sys.stdout.flush()
        sys.stderr.flush()
    return True
