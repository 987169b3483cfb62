"""The command line's grammar: its commands, their options, and how a word becomes a value."""

import argparse
from collections.abc import Callable, Iterable
from typing import NoReturn

from .answer import Answer
from .attending import FORMS
from .checkpoints.formats import ALIASES, FORMATS, bytes_of
from .commands import cross, ops, plot, sweep_command
from .comparison import compare
from .listing import hardware, models
from .precision import WIDTHS
from .setting import PROGRAM, RefusedError, nearest

DESCRIPTION = "Which operators of a model are memory-bound on a card, and how long a step must take."
EXAMPLES = """\
examples:
  roofline-calc ops --model qwen2.5-7b --hardware rtx-4090 --batch 32 --context 2048
  roofline-calc ops --phase prefill --context 4096 --tokens 512     the last chunk of a long prompt
  roofline-calc ops --context 2048,500,8000                         sequences of different lengths
  roofline-calc ops --weights int4-g128 --kv fp8                    quantised weights and KV cache
  roofline-calc sweep --over batch --model llama-3.1-70b --hardware h100-sxm --tp 4
  roofline-calc cross --model path/to/config.json --hardware my.toml
  roofline-calc compare path/to/results.json                        what gpu_lab.py measured, beside the prediction
  roofline-calc ops --json | python -m json.tool
"""


class Parser(argparse.ArgumentParser):
    """argparse, but wrong input is one line on stderr."""

    def error(self, message: str) -> NoReturn:
        """Refuse wrong input without printing the usage."""
        raise RefusedError(message)

    def option_strings(self) -> list[str]:
        """All options, as they are typed."""
        return [word for action in self._actions for word in action.option_strings]


def _one_of(*words: str) -> Callable[[str], str]:
    def parse(word: str) -> str:
        if word in words:
            return word
        raise argparse.ArgumentTypeError(f"{word!r} is none of {', '.join(words)}{nearest(word, words)}")

    return parse


def _whole(word: str) -> int:
    try:
        return int(word.replace("_", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number") from None


def _wholes(word: str) -> list[int]:
    return [_whole(part) for part in word.split(",")]


def _width(word: str) -> float:
    try:
        return bytes_of(word)
    except ValueError as error:
        if str(error).startswith("bits"):
            raise argparse.ArgumentTypeError(str(error)) from None
        raise _unknown(word, WIDTHS) from None


def _weights(word: str) -> float | str:
    """Bytes per weight, or the name of a format that stores some layers wider than others."""
    try:
        return word if word in FORMATS else _width(word)
    except argparse.ArgumentTypeError as error:
        raise (error if str(error).startswith("bits") else _unknown(word, (*WIDTHS, *ALIASES, *FORMATS))) from None


def _unknown(word: str, known: Iterable[str]) -> argparse.ArgumentTypeError:
    hint = nearest(word.partition("-g")[0], known)
    return argparse.ArgumentTypeError(
        f"{word!r} is none of {', '.join(known)}, nor one with a group, int4-g128, nor a number of bits, 4.5{hint}"
    )


def _common() -> Parser:
    common = Parser(add_help=False)
    form = common.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs: everything, in base units")
    form.add_argument("--csv", action="store_true", help="for programs: the table, in base units")
    return common


def _setting() -> Parser:
    setting = Parser(add_help=False)
    what = setting.add_argument_group("what runs where")
    what.add_argument("--model", default="qwen2.5-7b", metavar="NAME|FILE",
                      help="a name from `models`, a Hugging Face config.json or its folder, or my.toml "
                           "(default: %(default)s)")
    what.add_argument("--hardware", default="rtx-4090", metavar="NAME|FILE",
                      help="a name from `hardware`, or my.toml, my.toml:NAME (default: %(default)s)")
    what.add_argument("--tp", type=_whole, default=1, metavar="T",
                      help="tensor parallelism: the share of one of T cards (default: 1)")
    what.add_argument("--ep", type=_whole, default=1, metavar="E",
                      help="expert parallelism: whole experts spread over E cards (default: split over T)")
    what.add_argument("--dp", type=_whole, metavar="D",
                      help="data-parallel attention: groups of T cards, each with its part of the batch (E / T)")
    step = setting.add_argument_group("the step")
    step.add_argument("--phase", type=_one_of("decode", "prefill"), default="decode", metavar="decode|prefill",
                      help="one query token per sequence, or all of them (default: decode)")
    step.add_argument("--batch", type=_whole, metavar="N", help="sequences (default: 1, or one per group of cards)")
    step.add_argument("--context", type=_wholes, default=[2048], metavar="S[,S...]",
                      help="tokens of context with the step's own, for all or per sequence (default: 2048)")
    step.add_argument("--traffic", type=_one_of("q+kv+o", "kv-only"), default="q+kv+o", metavar="q+kv+o|kv-only",
                      help="what attention moves: all of it, or K and V alone (default: q+kv+o)")
    step.add_argument("--mla", type=_one_of(*FORMS), metavar="absorbed|expanded",
                      help="form of latent attention (default: for each sequence the one of fewer FLOPs)")
    step.add_argument("--elementwise", action="store_true",
                      help="also norms, RoPE, gates, residuals …, as an engine that fuses nothing runs them")
    step.add_argument("--fused", action="store_true", help="q, k, v in one GEMM, gate and up in another, as engines do")
    widths = setting.add_argument_group("data types", f"one of {', '.join(WIDTHS)}")
    widths.add_argument("--dtype", type=_one_of(*WIDTHS), metavar="TYPE",
                        help="in which linear layers multiply (default: as stored, or bf16); fp8 and int8 mean W8A8")
    widths.add_argument("--weights", type=_weights, metavar="TYPE|FORMAT|BITS",
                        help="of the layers' weights: a type (int4-g128 has a 2-byte scale per 128, -zero a zero point "
                             "as well), bits per weight (4.5), awq, gptq, or a format of all weights: "
                             f"{', '.join(FORMATS)}")
    widths.add_argument("--lm-head", type=_width, metavar="TYPE|BITS", help="of lm_head (default: the checkpoint's)")
    widths.add_argument("--embedding", type=_width, metavar="TYPE|BITS",
                        help="of the embedding, which is lm_head too where the model ties them")
    widths.add_argument("--kv", type=_width, metavar="TYPE", help="of the KV cache")
    widths.add_argument("--attention", type=_one_of(*WIDTHS), metavar="TYPE",
                        help="in which attention multiplies (default: as lm_head does, bf16)")
    return setting


COMMANDS: dict[str, Callable[[argparse.Namespace], Answer]] = {
    "ops": ops, "sweep": sweep_command, "cross": cross, "plot": plot, "compare": compare, "models": models,
    "hardware": hardware,
}


def command_parser() -> tuple[Parser, dict[str, Parser]]:
    """The parser of a whole command line, and those of its commands by name."""
    parser = Parser(prog=PROGRAM, description=DESCRIPTION, epilog=EXAMPLES, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    parsers = {}
    for name, function in COMMANDS.items():
        parents = [_common()] if name in ("compare", "models", "hardware") else [_setting(), _common()]
        parsers[name] = command = commands.add_parser(
            name, help=function.__doc__, description=function.__doc__, parents=parents, allow_abbrev=False,
            epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name in ("ops", "plot"):
            command.add_argument("--tokens", type=_whole, metavar="L",
                                 help="query tokens per sequence: drafted tokens in decode, a chunk in prefill")
        if name == "sweep":
            command.add_argument("--over", type=_one_of("batch", "context"), default="batch",
                                 metavar="batch|context", help="what varies (default: batch)")
            command.add_argument("--values", type=_wholes, metavar="N[,N...]",
                                 help="its values (default: powers of two)")
        if name == "compare":
            command.add_argument("results", metavar="results.json",
                                 help="what gpu_lab.py --json has written; of a folder, a line for each machine")
            command.add_argument("--hardware", metavar="NAME|FILE",
                                 help="predict from a spec sheet (see `hardware`) instead of the measured roofs")
            command.add_argument("--plot", metavar="FILE", help="draw the roofs and the measurements, .svg")
        if name in ("models", "hardware"):
            command.add_argument("--sources", action="store_true", help="where each entry comes from, in words")
        if name == "plot":
            command.add_argument("--output", default="roofline.svg", metavar="FILE", help="(default: %(default)s)")
    return parser, parsers
