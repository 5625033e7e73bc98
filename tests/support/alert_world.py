"""A world for alerts: incidents, rules, a clock that stands still, a receiver that remembers."""

import json
import os

from pfscope.watch.alerts.alerting import Alerting
from pfscope.watch.alerts.notifiers.base import DeliveryError
from pfscope.watch.alerts.rules import MINUTE_US, OnIncidents, Rule
from pfscope.watch.alerts.settings import Channel
from pfscope.watch.alerts.templates import Templates
from pfscope.watch.model import Advice, Cause, Incident, Severity, State

START_US = 1_666_828_800 * 10**6
"""2022-10-27, midnight."""
HOSTILE = "x\r\nBcc: all@example.org\x1b[2J<!channel> @all `*_&\u202e"


def at(minutes):
    return START_US + round(minutes * MINUTE_US)


def incident(state=State.ONGOING, **more):
    """Return a metadata storm by one user; `more` says what is otherwise."""
    ended = state in (State.ENDED, State.SETTLED)
    told = {
        "id": "i1", "start_us": START_US, "end_us": at(30) if ended else None, "state": state,
        "severity": Severity.WARNING, "filesystem": "scratch", "targets": ("scratch-MDT0000",),
        "operations": ("open", "close"), "baseline": 370.0, "peak": 19230.0, "ratio": 52.0,
        "causes": (Cause("12748318", "11302088", None, "wget", 0.87, 0.93),),
        "kind": "metadata_storm",
        "advice": Advice("open files once", "look at the job", ("scontrol hold 11302088",),
                         "https://docs.example.org/storms"),
        "evidence": (("latency", "3 times as usual"),),
    }  # fmt: skip
    return Incident(**told | more)


def rule(name="storm", **more):
    told = {"on": OnIncidents(), "notify": ("ops",), "repeat_us": None, "update_us": 0}
    return Rule(name, **told | more)


def as_stored(state):
    """Return a state as it comes back from disk."""
    return json.loads(json.dumps(state, allow_nan=False))


class Clock:
    """Stands still until it is told otherwise."""

    def __init__(self):
        self.now_us = START_US

    def __call__(self):
        return self.now_us


class Receiver:
    """Takes messages, unless it is broken."""

    def __init__(self):
        self.messages = []
        self.broken = ""

    def send(self, message):
        if self.broken:
            raise DeliveryError(self.broken)
        self.messages.append(message)
        return "taken"

    @property
    def told(self):
        return [message.notification for message in self.messages]

    @property
    def kinds(self):
        return [notification.kind.value for notification in self.told]


def channels(**receivers):
    return {name: Channel(name, receiver, Templates()) for name, receiver in receivers.items()}


def crash(alerting):
    """Leave an `Alerting` as a killed process does: nothing is written, the lock is free."""
    os.close(alerting._lock)


def alerting(directory, rules, clock, **receivers):
    return Alerting(directory, rules, channels(**receivers), clock)
