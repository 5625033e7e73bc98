"""`pfscope logs import|ls`: logs of applications, Slurm and LMT into a lake, and what is there."""

import argparse

from pfscope.cli import logs_import, logs_ls

EXAMPLES = """examples:
  pfscope logs import darshan /darshan-logs/2026/11 --lake LAKE
  TZ=UTC sacct --allusers --parsable2 --duplicates --starttime now-2days > sacct.txt
  pfscope logs import slurm sacct.txt --lake LAKE
  pfscope logs import lmt /global/lmt/2026-11-*.h5lmt --lake LAKE
  pfscope logs ls --lake LAKE
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the commands."""
    parser.epilog = EXAMPLES
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module, summary in (
        ("import", logs_import, "take logs into a lake, those that are new"),
        ("ls", logs_ls, "what is in a lake, what is partial, what is in quarantine and why"),
    ):
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.configure(command)
        command.set_defaults(logs_run=module.run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    code: int = args.logs_run(args)
    return code
