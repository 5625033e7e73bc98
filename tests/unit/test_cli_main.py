"""The command's frame: verbs, exit codes and errors in one line."""

import subprocess
import sys

import pfscope


def run(*arguments):
    command = [sys.executable, "-m", "pfscope.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_version():
    assert run("--version").stdout == f"pfscope {pfscope.__version__}\n"


def test_wrong_usage_ends_with_2():
    for arguments in ([], ["nonsense"], ["parse", "--format", "xml"]):
        done = run(*arguments)
        assert done.returncode == 2
        assert "usage:" in done.stderr


def test_an_error_is_one_line_and_ends_with_1():
    done = run("parse", "/nonexistent/job_stats")
    assert done.returncode == 1
    assert done.stderr == "pfscope: cannot read /nonexistent/job_stats: No such file or directory\n"
