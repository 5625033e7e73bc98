"""A disk that fills up and empties at random, under a server that is killed at random.

`make chaos` plays many rounds; the usual test run plays a few.
"""

import os
import random
import signal
import time

from tests.integration.test_server_disk_full import (
    MB,
    TO_THE_LAST_BYTE,
    frame,
    holds_each_once,
    settled,
)
from tests.support.serve_process import served
from tests.support.small_disk import small_disk
from tests.support.steady_sender import SteadySender

ROUNDS = int(os.environ.get("PFSCOPE_CHAOS_ROUNDS", "4"))
SEED = int(os.environ.get("PFSCOPE_CHAOS_SEED", "7"))
DISK_BYTES = 48 * MB


def of_some_size(sequence):
    return frame(sequence, random.Random(sequence).choice((1, 50, 1000)))


def a_round(server, disk, rng):
    """Fill the disk and make room again, some times; end with either."""
    for _ in range(rng.randint(1, 3)):
        time.sleep(rng.uniform(0.05, 1.5))
        disk.fill()
        time.sleep(rng.uniform(0.05, 2.5))
        if rng.random() < 0.3:
            break
        disk.make_room()
    server.process.send_signal(rng.choice((signal.SIGKILL, signal.SIGTERM)))
    server.process.wait(60)


def test_full_and_empty_and_killed_again_and_again(tmp_path):
    rng = random.Random(SEED)
    sending = SteadySender(of_some_size, pause_s=0.02)
    with small_disk(tmp_path / "disk", DISK_BYTES) as disk, sending as sender:
        data = disk.path / "data"
        for _ in range(ROUNDS):
            with served(data, *TO_THE_LAST_BYTE, enter=disk.enter) as server:
                sender.url = server.url
                a_round(server, disk, rng)
            disk.make_room()
        disk.grow(1024 * MB)
        with served(data, *TO_THE_LAST_BYTE, enter=disk.enter) as server:
            sender.url = server.url
            sender.until_acknowledged(5)
            sender.url = None
            settled(server)
        holds_each_once(disk, data, sender.acknowledged, tmp_path / "copy")
