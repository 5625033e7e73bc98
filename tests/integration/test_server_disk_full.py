"""A full disk under a running server: it refuses and says why, loses nothing, goes on by itself."""

import random
import re
import shutil
import signal
import subprocess
import sys
import time

from pfscope.frames import Section
from pfscope.store.embedded import open_store
from tests.support.frame_samples import WALL_NS, encoded
from tests.support.serve_process import serve, served
from tests.support.small_disk import small_disk
from tests.support.steady_sender import SteadySender

OST = "obdfilter.scratch-OST0000.job_stats"
ENTRY = (
    "- job_id:          job.%d\n  snapshot_time:   %d.0 secs.nsecs\n"
    "  start_time:      1600000000.0 secs.nsecs\n"
    "  write_bytes:     { samples: %d, unit: bytes, min: 1, max: 4096, sum: %d }\n"
)
MINUTE_S = 60
FULL = re.compile(r"the disk is nearly full|No space left on device")
TO_THE_LAST_BYTE = ("--limit", "free_bytes=1", "--limit", "reorder_s=1")
WITH_A_RESERVE = ("--limit", "free_bytes=3M", "--limit", "reorder_s=1")
MB = 1 << 20


def frame(sequence, jobs=20):
    """Return a frame in which every job has done something since the one before."""
    chance, now_s = random.Random(sequence), WALL_NS // 10**9 + sequence * MINUTE_S
    counters = ((job, now_s, sequence + 1, chance.randrange(2**40)) for job in range(jobs))
    text = "job_stats:\n" + "".join(ENTRY % of_job for of_job in counters)
    return encoded(sequence, (Section(OST, text.encode()),), now_s * 10**9)


def large_frame(sequence):
    return frame(sequence, 1500)


def until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it never came true")


def ready(server):
    return server.client.get("/ready").status_code == 200


def shows_a_full_disk(server):
    assert server.client.get("/health").status_code == 200
    answer = server.client.get("/ready")
    assert answer.status_code == 503
    assert FULL.search(answer.json()["error"]["message"])
    found = server.metrics()
    assert found["pfscope_ready"] == 0
    assert found['pfscope_trouble{part="journal"}'] == 1


def refuses_a_text(server):
    answer = server.client.post("/api/v1/lctl?server=oss1", content=b"health_check=healthy\n")
    assert answer.status_code == 503
    assert "Retry-After" in answer.headers


def settled(server):
    until(lambda: server.metrics()["pfscope_backlog_frames"] == 0)
    assert server.end() == 0
    return server.process.stderr.read()


def tells_little(log):
    """A line for the beginning and one for the end of each part's trouble, and nothing more."""
    lines = log.splitlines()
    assert any("journal: " in line and FULL.search(line) for line in lines)
    assert len(lines) <= 6, log
    assert "Traceback" not in log


def holds_each_once(disk, data, acknowledged, copy):
    doctor = [sys.executable, "-m", "pfscope.cli.main", "doctor", "--data", str(data)]
    done = subprocess.run([*disk.enter, *doctor], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.copytree(disk.root / "data", copy)
    with open_store(copy) as store:
        found = store.query("SELECT sequence FROM frames ORDER BY 1").column(0).to_pylist()
        ledger = store.ledger().to_pylist()
    # The last one sent may be there although nobody heard of it.
    assert found[: len(acknowledged)] == sorted(acknowledged)
    assert len(found) <= len(acknowledged) + 1
    stored = {r["stage"]: r["frames"] for r in ledger if r["outcome"] == "stored" and r["frames"]}
    assert stored == {"ingest": len(found), "receive": len(found)}


def test_somebody_elses_file_takes_the_last_byte_and_goes_again(tmp_path):
    with small_disk(tmp_path / "disk", 32 * MB) as disk:
        data = disk.path / "data"
        with served(data, *TO_THE_LAST_BYTE, enter=disk.enter) as server:
            with SteadySender(frame) as sender:
                sender.url = server.url
                sender.until_acknowledged(30)
                disk.fill()
                sender.until_refused(200)
                shows_a_full_disk(server)
                refuses_a_text(server)
                disk.make_room()
                sender.until_acknowledged(30)
                until(lambda: ready(server))
            tells_little(settled(server))
        assert sender.answers == {(200, "stored", False), (200, "retry", True)}
        holds_each_once(disk, data, sender.acknowledged, tmp_path / "copy")


def test_it_is_ready_again_though_nobody_sends(tmp_path):
    with (
        small_disk(tmp_path / "disk", 16 * MB) as disk,
        served(disk.path / "data", *TO_THE_LAST_BYTE, enter=disk.enter) as server,
    ):
        disk.fill()
        assert server.statuses(frame(0)) == ["retry"]
        assert not ready(server)
        disk.make_room()
        until(lambda: ready(server))


def test_its_own_data_fills_the_disk_and_the_disk_grows(tmp_path):
    with small_disk(tmp_path / "disk", 12 * MB) as disk:
        data = disk.path / "data"
        with served(data, *TO_THE_LAST_BYTE, enter=disk.enter) as server:
            with SteadySender(large_frame) as sender:
                sender.url = server.url
                sender.until_refused(200)
                shows_a_full_disk(server)
                disk.grow(256 * MB)
                sender.until_acknowledged(30)
            tells_little(settled(server))
        holds_each_once(disk, data, sender.acknowledged, tmp_path / "copy")


def killed_while_full(disk, sender, arguments):
    """Kill a server whose disk its own data have filled."""
    with served(disk.path / "data", *arguments, enter=disk.enter) as server:
        sender.url = server.url
        sender.until_refused(50)
        sender.url = None
        server.process.send_signal(signal.SIGKILL)


def test_with_a_reserve_a_restart_on_a_full_disk_serves_and_refuses(tmp_path):
    with small_disk(tmp_path / "disk", 12 * MB) as disk, SteadySender(large_frame) as sender:
        data = disk.path / "data"
        killed_while_full(disk, sender, WITH_A_RESERVE)
        with served(data, *WITH_A_RESERVE, enter=disk.enter) as server:
            sender.url = server.url
            sender.until_refused(50)
            shows_a_full_disk(server)
            disk.grow(256 * MB)
            sender.until_acknowledged(30)
            sender.url = None
            tells_little(settled(server))
        holds_each_once(disk, data, sender.acknowledged, tmp_path / "copy")


def test_without_a_byte_left_a_restart_ends_in_one_line_that_says_what_to_do(tmp_path):
    with small_disk(tmp_path / "disk", 12 * MB) as disk, SteadySender(large_frame) as sender:
        data = disk.path / "data"
        killed_while_full(disk, sender, TO_THE_LAST_BYTE)
        disk.fill()
        done = serve(data, "--listen", "127.0.0.1:0", *TO_THE_LAST_BYTE, enter=disk.enter)
        assert done.returncode == 1
        assert re.fullmatch(r"pfscope: .+: the disk is full; make room and start again .+\n",
                            done.stderr)  # fmt: skip
        disk.grow(256 * MB)
        with served(data, *TO_THE_LAST_BYTE, enter=disk.enter) as server:
            sender.url = server.url
            sender.until_acknowledged(30)
            sender.url = None
            settled(server)
        holds_each_once(disk, data, sender.acknowledged, tmp_path / "copy")
