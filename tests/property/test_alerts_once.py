"""One incident is told once, and its end once: through flapping, crashes, repeats and lost data."""

import shutil
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from pfscope.watch.alerts.rules import MINUTE_US
from pfscope.watch.model import State
from tests.support import alert_world as world

KEEP = 10
"""Minutes for which an alert stays when its condition does not hold."""
POINTS = ("before the state is written", "after it", "before a message is sent", "after it arrived")
SHORT = st.integers(0, KEEP - 1)


class Crash(BaseException):
    """The end of the process, as far as it can tell."""


class OneIncident(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.clock = world.Clock()
        self.receiver = world.Receiver()
        self.crash_at = None
        self.incident = world.incident()
        self.rules = [world.rule(keep_firing_for_us=KEEP * MINUTE_US)]

    @initialize(point=st.sampled_from([None, *POINTS]))
    def begin(self, point):
        self.start()
        self.crash_at = point
        self.observe(State.ONGOING)

    def start(self):
        self.crash_at = None
        self.alerting = world.alerting(self.directory, self.rules, self.clock, ops=self)
        write = self.alerting._file.write

        def written(plain):
            self.reach(POINTS[0])
            write(plain)
            self.reach(POINTS[1])

        self.alerting._file.write = written

    def send(self, message):
        """Be the channel."""
        self.reach(POINTS[2])
        said = self.receiver.send(message)
        self.reach(POINTS[3])
        return said

    def reach(self, point):
        if self.crash_at == point:
            raise Crash

    def observe(self, state, **more):
        """Let the watch tell what it knows, once more after each crash."""
        self.incident = world.incident(state, **more)
        try:
            self.alerting.advance([self.incident], whole=True)
            self.alerting.deliver()
        except Crash:
            world.crash(self.alerting)
            self.clock.now_us += MINUTE_US
            self.start()
            self.observe(state, **more)

    @rule(minutes=st.integers(0, 300), times=st.integers(1, 3))
    def goes_on(self, minutes, times):
        self.clock.now_us += minutes * MINUTE_US
        for _ in range(times):
            self.observe(State.ONGOING)

    @rule(minutes=SHORT)
    def flaps(self, minutes):
        self.observe(State.ENDED)
        self.clock.now_us += minutes * MINUTE_US
        self.observe(State.ENDED)
        self.observe(State.ONGOING)

    @rule(minutes=st.integers(0, 300))
    def data_is_missing(self, minutes):
        self.observe(State.UNKNOWN)
        self.clock.now_us += minutes * MINUTE_US
        self.observe(State.UNKNOWN)

    @rule(minutes=st.integers(-5, 3000))
    def nobody_looks(self, minutes):
        """The process is down, and the clock may be set."""
        world.crash(self.alerting)
        self.clock.now_us += minutes * MINUTE_US
        self.start()

    @rule()
    def is_stopped_and_started(self):
        self.crash_at = None
        self.alerting.close()
        self.start()

    @rule(point=st.sampled_from(POINTS))
    def will_crash(self, point):
        self.crash_at = point

    @precondition(lambda self: not self.receiver.broken)
    @rule()
    def receiver_breaks(self):
        self.receiver.broken = "out of order"

    @rule()
    def receiver_is_repaired(self):
        self.receiver.broken = ""

    def teardown(self):
        try:
            self.finish()
        finally:
            world.crash(self.alerting)
            shutil.rmtree(self.directory)

    def finish(self):
        self.receiver.broken = ""
        self.observe(State.ENDED)
        for _ in range(20):
            self.clock.now_us += 15 * MINUTE_US
            self.observe(State.ENDED)
        kinds = Counter({told.key: told.kind.value for told in self.receiver.told}.values())
        assert kinds == {"firing": 1, "resolved": 1}
        assert len({told.group for told in self.receiver.told}) == 1
        assert self.receiver.kinds[0] == "firing"
        assert self.receiver.kinds[-1] == "resolved"


TestOneIncident = OneIncident.TestCase
TestOneIncident.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
