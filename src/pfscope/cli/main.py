"""`pfscope VERB …`: finds the verb, imports its module alone, and turns errors into exit codes.

A verb's module offers `configure(parser)` and `run(args) -> int`; adding a verb is one line here.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword

import pfscope
from pfscope.errors import PfscopeError

VERBS = {
    "demo": "watch agents collect from a simulated Lustre site",
    "lab": "simulate a Lustre site whose truth is known",
    "parse": "show what was understood of Lustre's job_stats text",
    "frames": "list, print and check frame logs",
    "import": "take recorded collections into a store",
    "logs": "logs of applications, Slurm and LMT into a lake, and what is there",
    "agent": "collect on a Lustre server, spool, send",
    "serve": "receive frames, acknowledge them when they are safe, store their usage",
    "top": "watch who loads the file systems, live or as it was",
    "job": "all about one job, in plain words",
    "query": "ask who did what, when, how much and why",
    "incidents": "what changed, who caused it and what to do: now, or over the past",
    "alert": "list alerts, silence them for a while, try whether messages arrive",
    "export": "write a store's rows as plain Parquet or CSV by day",
    "report": "draw figures, or write a page on a day or a week",
    "mine": "ask logs of applications: who does bad I/O, and why",
    "doctor": "say whether a data directory is sound, and what is wrong",
}
_TIMES = ("--from", "--to", "--at", "--baseline-from", "--baseline-to")
_AGO = re.compile(r"-\d")
EXAMPLES = """examples:
  lctl get_param '*.*.job_stats' | pfscope parse -
  pfscope lab dump OUT --preset mini --hours 1
  pfscope demo
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments)
    except PfscopeError as error:
        print(f"pfscope: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output went away: point stdout elsewhere so that exit is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def _dispatch(arguments: list[str]) -> int:
    verb = next((a for a in arguments if not a.startswith("-")), None)
    parser = argparse.ArgumentParser(
        prog="pfscope",
        description=(pfscope.__doc__ or "").splitlines()[0],
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"pfscope {pfscope.__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, summary in VERBS.items():
        sub = verbs.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == verb:
            module = import_module(f"pfscope.cli.{name}{'_' if iskeyword(name) else ''}")
            module.configure(sub)
            sub.set_defaults(run=module.run)
    args = parser.parse_args(_times_joined(arguments))
    sys.stdout.flush()
    code: int = args.run(args)
    sys.stdout.flush()
    return code


def _times_joined(arguments: Sequence[str]) -> list[str]:
    """Join a time to its option: `--from -2h` is no option of its own."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1] in _TIMES and _AGO.match(argument):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


if __name__ == "__main__":
    sys.exit(main())
