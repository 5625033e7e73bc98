"""Advice: two sentences for the user, commands for the admin; no name gets out of its quotes."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from pfscope.watch.advice import LINK, advice
from pfscope.watch.archetype import _DATA, _METADATA
from pfscope.watch.model import Cause

MDT, OST, SINCE = "scratch-MDT0000", "scratch-OST0001", "2022-10-27T08:30:00Z"
ROOT = Path(__file__).resolve().parents[2]
KINDS = sorted({*_DATA, *_METADATA, "unknown"})
HOSTILE = [
    "1; touch owned", "$(touch owned)", "`touch owned`", "' touch owned '", '"; touch owned; "',
    "1\ntouch owned", "1 && touch owned", "*", "a b", "\\", "!x", "#", "~root", "{1,2}", "é",
    "1} rate=99999 jobid={*", "\x1b[201~touch owned\r",
]  # fmt: skip


def told(user="1002", job="77", kind="metadata_storm", targets=(MDT,)):
    return advice(kind, [Cause(user, job, None, None, 0.9, 0.9)], targets, SINCE)


def test_the_admin_can_look_hold_requeue_and_throttle():
    assert told().commands == (
        f"pfscope query top --data DIR --by job,node,operation --from {SINCE} "
        f"--target {MDT} --user 1002",
        "scontrol show job 77",
        "scontrol hold 77",
        "scontrol suspend 77",
        "scontrol requeue 77",
        "lctl set_param mds.MDS.mdt.nrs_policies=tbf "
        "mds.MDS.mdt.nrs_tbf_rule='start pfscope_j77 jobid={*77*} rate=100'",
    )  # fmt: skip


def test_data_is_throttled_where_data_is_served():
    assert "ost.OSS.ost_io.nrs_tbf_rule=" in told(targets=(OST, MDT)).commands[-1]


def test_without_a_job_the_user_is_throttled():
    commands = told(job=None).commands
    assert [c for c in commands if c.startswith("scontrol")] == []
    assert commands[-1].endswith("'start pfscope_u1002 uid={1002} rate=100'")


@pytest.mark.parametrize("kind", KINDS)
def test_users_are_told_in_two_sentences_with_a_page_that_is_there(kind):
    given = told(kind=kind)
    assert len(re.findall(r"\.(?= |$)", given.user)) == 2
    path, _, anchor = given.link.partition("#")
    assert path == LINK
    page = (ROOT / path).read_text()
    assert re.search(rf"^## {anchor}$", page, re.MULTILINE)


def test_many_a_little_is_nobody_s_fault():
    given = advice("unknown", [], (MDT,), SINCE)
    assert "No single user or job" in given.user
    assert all("scontrol" not in command and "lctl" not in command for command in given.commands)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_pasted_command_does_nothing_but_what_it_says(name, tmp_path):
    for command in told(user=name, job=name).commands:
        assert command.isprintable()
        program, *arguments = shlex.split(command)
        # The real shell agrees: the program gets these arguments, and nothing else happens.
        shown = subprocess.run(
            ["bash", "-c", f'{program}() {{ printf "%s\\0" "$@"; }}; {command}'],
            cwd=tmp_path, capture_output=True, timeout=30, check=True,
        )  # fmt: skip
        assert shown.stdout.decode().split("\0")[:-1] == arguments
        assert list(tmp_path.iterdir()) == []
        if program == "scontrol":
            assert arguments[-1] == name


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_writes_a_rule_of_its_own(name):
    rule = shlex.split(told(user=name, job=name).commands[-1])[-1]
    assert rule == "mds.MDS.mdt.nrs_tbf_rule=start pfscope_uUID uid={UID} rate=100"


def test_what_looks_like_an_option_is_no_job():
    assert not any("scontrol" in command for command in told(job="--help").commands)
