"""The command line: which operators of a model are memory-bound on a card, and what a step costs."""

import io
import os
import sys

from .command_parser import COMMANDS, command_parser
from .setting import PROGRAM, RefusedError, nearest


def _answer(arguments: list[str]) -> str:
    parser, parsers = command_parser()
    first = next(iter(arguments), "")
    if first and not first.startswith("-") and first not in COMMANDS:
        raise RefusedError(f"command {first!r} is none of {', '.join(COMMANDS)}{nearest(first, COMMANDS)}")
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        hint = nearest(unknown[0], parsers[options.command].option_strings())
        raise RefusedError(f"{unknown[0]!r} is no option of {options.command}{hint}")
    return COMMANDS[options.command](options).show(options)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status: 0, or 2 for wrong input."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without µ shows something else instead
    try:
        print(_answer(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"{PROGRAM}: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except OverflowError:
        print(f"{PROGRAM}: a number is too large", file=sys.stderr)
        return 2
    except (RefusedError, ValueError) as error:
        print(f"{PROGRAM}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
