"""The log against a model: append, acknowledge, restart, crashes of process and machine, damage.

The model knows which frames must be there, byte by byte. A crash is a copy of the directory, in
which whatever was not synced may be missing or torn; the log is then opened on the copy.
"""

import errno
import itertools
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pfscope.frames import FrameError, FrameLog, LogFull
from tests.support.frame_samples import encoded, sized

MAX_BYTES = 60_000
sizes = st.integers(0, 2500)


class Log(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="frames-model-"))
        self.lives = itertools.count()
        self.sequence = itertools.count()
        self.alive = {}
        self.synced = set()
        self.ever = set()
        self.room = None
        self.flipped = set()
        self.ever_flipped = False
        self.directory = self.base / "0"
        self.open()

    def open(self):
        self.log = FrameLog(
            str(self.directory), max_bytes=MAX_BYTES, segment_bytes=6000, write=self.write
        )

    def write(self, fd, data):
        if self.room is None:
            return os.write(fd, data)
        if self.room == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = os.write(fd, bytes(data)[: self.room])
        self.room -= written
        return written

    def teardown(self):
        self.log.close()
        shutil.rmtree(self.base)

    def frame(self, size):
        number = next(self.sequence)
        return sized(number, size) if size > 1000 else encoded(number)

    @rule(size=sizes)
    def append(self, size):
        data = self.frame(size)
        dropped = self.log.dropped["size"]
        position = self.log.append(data)
        self.ever.add(data)
        self.forget_oldest(self.log.dropped["size"] - dropped)
        self.alive[position] = data
        self.flipped.discard(position)  # the place of a frame that was cut off is used again

    def forget_oldest(self, count):
        for position in list(self.alive)[:count]:
            del self.alive[position]

    @rule(size=sizes, room=st.integers(0, 800))
    def append_to_a_full_disk(self, size, room):
        data = self.frame(size)
        if len(data) <= room:
            return
        dropped = self.log.dropped["size"]
        self.room = room
        with pytest.raises(LogFull):
            self.log.append(data)
        self.room = None
        self.forget_oldest(self.log.dropped["size"] - dropped)

    @precondition(lambda self: self.alive)
    @rule(data=st.data())
    def acknowledge(self, data):
        chosen = data.draw(st.sets(st.sampled_from(list(self.alive))))
        self.log.acknowledge(chosen)
        for position in chosen:
            del self.alive[position]

    @rule()
    def sync(self):
        self.log.sync()
        self.synced = set(self.alive)

    @rule()
    def restart(self):
        self.log.close()
        self.open()
        self.meet_the_damage()
        assert not self.log.damaged or self.ever_flipped

    @rule()
    def the_process_dies(self):
        self.move_to_a_copy()
        self.open()
        self.meet_the_damage()
        assert not self.log.damaged or self.ever_flipped

    @rule(data=st.data())
    def the_machine_dies(self, data):
        active = max(self.directory.glob("*.pfl"), default=None)
        number = int(active.stem) if active else 0
        here = [p for p in self.synced & set(self.alive) if p.segment == number]
        safe = max((p.offset + p.length for p in here), default=0)
        self.move_to_a_copy()
        if active:
            tear(self.directory / active.name, safe, data)
        for acks in self.directory.glob("*.ack"):
            tear(acks, 0, data)
        self.open()
        self.meet_the_damage()
        pending = self.log.pending()
        assert self.synced & set(self.alive) <= set(pending)
        # Acknowledgements may be lost: what is there is genuine, and pending again.
        self.alive = {position: self.log.read(position) for position in pending}
        assert set(self.alive.values()) <= self.ever

    @precondition(lambda self: self.alive)
    @rule(data=st.data())
    def a_bit_flips(self, data):
        victim = data.draw(st.sampled_from(list(self.alive)))
        at = victim.offset + data.draw(st.integers(0, victim.length - 1))
        self.log.close()
        path = self.directory / f"{victim.segment:016}.pfl"
        content = bytearray(path.read_bytes())
        content[at] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(content)
        self.open()
        del self.alive[victim]
        self.flipped.add(victim)
        self.ever_flipped = True
        self.meet_the_damage()
        assert self.log.damaged

    def meet_the_damage(self):
        """Of old segments only the heads are checked at opening: a bad body shows when read."""
        for position in self.flipped & set(self.log.pending()):
            with pytest.raises(FrameError):
                self.log.read(position)

    def move_to_a_copy(self):
        copy = self.base / f"copy{next(self.lives)}"
        shutil.copytree(self.directory, copy)
        self.log.close()
        self.directory = copy

    @invariant()
    def holds_exactly_what_the_model_holds(self):
        assert self.log.pending() == list(self.alive)
        assert self.log.pending(newest_first=True) == list(self.alive)[::-1]
        assert len(self.log) == len(self.alive)
        assert self.log.size_bytes <= MAX_BYTES
        for position, data in self.alive.items():
            assert self.log.read(position) == data


def tear(path, safe, data):
    """Cut the file somewhere after `safe`, or keep its length with the rest never written."""
    content = path.read_bytes()
    cut = data.draw(st.integers(min(safe, len(content)), len(content)))
    rest = bytes(len(content) - cut) if data.draw(st.booleans()) else b""
    path.write_bytes(content[:cut] + rest)


TestLog = Log.TestCase
TestLog.settings = settings(deadline=None, max_examples=150, stateful_step_count=25)
