"""`pfscope agent`: the agent, where pfscope is installed; elsewhere it is one file of its own."""

import argparse

from pfscope.agent import main as agent
from pfscope.agent.errors import AgentError
from pfscope.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the agent's arguments."""
    agent.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the agent."""
    try:
        return agent.run(args)
    except AgentError as error:
        raise UsageError(str(error)) from None
