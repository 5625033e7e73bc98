"""recovery_status while a target recovers, waits, and after."""

from pfscope.lustre.recovery import parse_recovery_status

COMPLETE = b"""status: COMPLETE
recovery_start: 1600000000
recovery_duration: 32
completed_clients: 1029/1031
VBR: DISABLED
"""
RECOVERING = b"""status: RECOVERING
recovery_start: 1600000000
time_remaining: 71
connected_clients: 12/1031
completed_clients: 3
"""


def test_a_target_that_is_back() -> None:
    recovery = parse_recovery_status(COMPLETE)
    assert recovery.status == "COMPLETE"
    assert recovery.clients == (1029, 1031)
    assert recovery.number("recovery_duration") == 32
    assert recovery.number("VBR") is None
    assert recovery.values["VBR"] == "DISABLED"


def test_a_target_that_recovers_tells_who_is_connected() -> None:
    recovery = parse_recovery_status(RECOVERING)
    assert (recovery.status, recovery.clients) == ("RECOVERING", (12, 1031))
    assert recovery.number("time_remaining") == 71


def test_a_target_that_waits_for_others() -> None:
    recovery = parse_recovery_status(b"status: WAITING\nnon-ready MDTs:  0001 0002\n")
    assert (recovery.status, recovery.values["non-ready MDTs"]) == ("WAITING", "0001 0002")
    assert recovery.clients is None


def test_rubbish_is_counted_and_an_empty_file_says_nothing() -> None:
    recovery = parse_recovery_status(b"status: INACTIVE\n???\n", offset=7)
    assert recovery.status == "INACTIVE"
    assert [(d.offset, d.reason) for d in recovery.defects.first] == [(24, "unreadable line")]
    assert parse_recovery_status(b"").status == ""
