"""Alerts in a process of their own: `python -m tests.support.alert_process DIR CONFIG`.

It reads `MINUTE STATE` lines, advances with one incident in that state and says `told N`; at the
end of its input it waits until all is sent, and ends.
"""

import sys
import time
from pathlib import Path

from pfscope.config import load_config
from pfscope.watch.alerts.alerting import Alerting
from pfscope.watch.model import State
from tests.support import alert_world as world


def main(directory, config):
    """Run until the end of the input."""
    alerts = load_config(Path(config)).alerts
    alerting = Alerting(Path(directory), alerts.rules, alerts.channels)
    alerting.start()
    for line in sys.stdin:
        minute, state = line.split()
        known = [world.incident(State(state))]
        told = alerting.advance(known, whole=True, now_us=world.at(float(minute)))
        print("told", len(told), flush=True)
    while alerting.waiting:
        time.sleep(0.02)
    alerting.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
