"""The demo's summary: what it adds up, and when it is not content."""

from collections import Counter

from pfscope.cli.demo_summary import Summary
from pfscope.lab.spectator import Requests, Seen

INJECTED = {
    "kind": "metadata_storm", "user": "10002", "job": "4711", "nodes": ["r01c01", "r01c02"],
    "targets": ["scratch-MDT0000"],
}  # fmt: skip


def seen(server: str, entries: int, users: Requests) -> Seen:
    return Seen(
        server, 0, 0, 0, entries, Counter({"sound": entries}), 1, 2.0, 0, users, Requests()
    )  # fmt: skip


def test_frames_users_and_classes_are_added_up() -> None:
    summary = Summary(["mds1", "oss1"])
    for server in ("mds1", "mds1", "oss1", "oss1"):
        summary.add(seen(server, 5, Requests({b"10002": 30, b"1\x1b": 10})))
    assert summary.lacking() == []
    assert summary.text(INJECTED).splitlines() == [
        "2 servers, 4 frames, 20 entries parsed, 4 lines unreadable",
        "classes: sound 20",
        "busiest user of the run: 10002, 75% of the requests of all users",
        "the laboratory injected: metadata storm by user 10002, job 4711 on r01c01, r01c02, "
        "at scratch-MDT0000",
    ]


def test_a_server_with_one_frame_or_none_or_no_entries_is_lacking() -> None:
    summary = Summary(["mds1", "oss1", "oss2"])
    for server, entries in (("mds1", 7), ("oss1", 0), ("oss1", 0)):
        summary.add(seen(server, entries, Requests()))
    assert summary.lacking() == ["mds1", "oss1", "oss2"]
    lines = summary.text(INJECTED).splitlines()
    assert "busiest user of the run: nobody yet" in lines
    assert lines[-3:] == [
        "too little from mds1: 1 frames, 7 entries",
        "too little from oss1: 2 frames, 0 entries",
        "too little from oss2: 0 frames, 0 entries",
    ]
