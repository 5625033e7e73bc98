"""`pfscope mine stats`."""

import argparse

from pfscope.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""


def run(args: argparse.Namespace) -> int:
    """Not yet."""
    raise UsageError("not yet")
