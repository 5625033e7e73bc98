"""`pfscope mine VERB …`: questions to a lake of logs; each verb is a module of its own.

A verb's module, `cli/mine_VERB.py`, offers `configure(parser)` and `run(args) -> int` and imports
what it needs when it runs; adding a verb is one line here.
"""

import argparse
from importlib import import_module

VERBS = {
    "job": "explain one job: what held it up, with the evidence and what to do",
    "low": "find jobs of low bandwidth, with the factors of each",
    "sql": "ask in SQL",
    "stats": "write a page of statistics on how applications do I/O",
    "synth": "make a month of logs whose truth is known",
}
EXAMPLES = """examples:
  pfscope mine sql "SELECT executable, sum(bytes_written) FROM darshan_job GROUP BY ALL" --lake LAKE
  pfscope mine stats --lake LAKE --out stats.html
  pfscope mine synth --jobs 1000 --out LAKE

pfscope logs import makes a lake of logs; pfscope mine VERB --help says what a verb takes.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    parser.epilog = EXAMPLES
    verbs = parser.add_subparsers(dest="mine_verb", metavar="VERB", required=True)
    for name, summary in VERBS.items():
        sub = verbs.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module = import_module(f"pfscope.cli.mine_{name}")
        module.configure(sub)
        sub.set_defaults(run_mine=module.run)


def run(args: argparse.Namespace) -> int:
    """Run one of them."""
    code: int = args.run_mine(args)
    return code
