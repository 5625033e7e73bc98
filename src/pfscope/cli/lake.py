"""`--lake DIR`: the option of every command that asks a lake of logs."""

import argparse
from pathlib import Path


def add_lake(parser: argparse.ArgumentParser) -> None:
    """Add `--lake`."""
    parser.add_argument(
        "--lake", type=Path, required=True, metavar="DIR", help="a lake, as logs import makes it"
    )
