"""Pages whose commands are run: every `console` block, its lines with `$` and what they print."""

import os
import re
import shlex
import stat
import subprocess
import sys
from typing import NamedTuple


class Step(NamedTuple):
    """A command of a page, and what the page says that it prints."""

    command: str
    printed: str


def steps(page):
    """Return the commands of a page, in order."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [
        Step(command, printed)
        for block in blocks
        for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


class Shell:
    """Runs lines as a newcomer would, in one directory that lasts."""

    def __init__(self, folder, tools, scripts=()):
        self.folder = folder
        python = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m pfscope.cli.main "$@"\n'
        for name, text in {"pfscope": python, **dict(scripts)}.items():
            (tools / name).write_text(text)
            (tools / name).chmod(stat.S_IRWXU)
        self._env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}

    def __call__(self, line):
        """Run one line."""
        command = ["bash", "-euo", "pipefail", "-c", line]
        return subprocess.run(
            command, cwd=self.folder, env=self._env, capture_output=True, text=True, timeout=120
        )
