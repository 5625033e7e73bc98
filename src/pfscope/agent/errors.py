"""What the agent tells a person about the options or the files that it was given."""


class AgentError(Exception):
    """The agent cannot start as asked; the text says what to do."""

    exit_code = 2
