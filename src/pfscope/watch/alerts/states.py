"""The states of one alert: pending, firing, missing, resolved; a pure function of what was seen.

Only time in which somebody looked and there was data counts for `for` and `keep_firing_for`: a
gap neither fires nor resolves anything, and a flapping alert stays until it has been calm.
"""

from dataclasses import replace
from typing import Final

from pfscope.watch.alerts.model import Alert, Observation, Phase, Seen
from pfscope.watch.alerts.rules import HOUR_US, Rule

LOST_US: Final = 7 * 24 * HOUR_US
"""After so long without data an alert is given up."""


def begin(seen: Observation, rule: Rule, now_us: int) -> Alert:
    """Return the alert on something that was not known before."""
    assert seen.instance is not None
    fresh = Alert(
        rule.name, seen.instance, Phase.PENDING, Seen.ACTIVE, now_us, seen.labels, seen.facts,
        known=Seen.ACTIVE,
    )  # fmt: skip
    return _ripe(fresh, rule, now_us)


def step(
    alert: Alert, seen: Seen, rule: Rule, now_us: int, elapsed_us: int, told: Observation | None
) -> Alert | None:
    """Return what becomes of an alert; None: it can be forgotten."""
    alert = _noted(alert, seen, rule, now_us, elapsed_us)
    if told is not None and told.facts:
        alert = replace(alert, labels=told.labels, facts=told.facts)
    if alert.missing_us > LOST_US:
        return _given_up(alert, now_us)
    if alert.phase is Phase.RESOLVED:
        return _after_the_end(alert, rule, now_us)
    if alert.phase is Phase.PENDING:
        return None if alert.known is Seen.QUIET else _ripe(alert, rule, now_us)
    if seen is Seen.MISSING:
        return replace(alert, phase=Phase.MISSING)
    if seen is Seen.QUIET and alert.held_us >= _calm_us(alert, rule):
        return replace(alert, phase=Phase.RESOLVED, ended_us=now_us)
    return replace(alert, phase=Phase.FIRING)


def _noted(alert: Alert, seen: Seen, rule: Rule, now_us: int, elapsed_us: int) -> Alert:
    """Take note of how it looks, and for how long."""
    changes = tuple(t for t in alert.changes if t > now_us - rule.flapping.window_us)
    flapping = alert.flapping and bool(changes)
    if seen is Seen.MISSING:
        since = alert.missing_us + (elapsed_us if alert.seen is seen else 0)
        return replace(alert, seen=seen, missing_us=since, changes=changes, flapping=flapping)
    held = alert.held_us + (elapsed_us if alert.seen is seen else 0)
    if seen is not alert.known:
        held, changes = 0, (*changes, now_us)
    flapping = flapping or len(changes) >= rule.flapping.changes
    return replace(
        alert, seen=seen, known=seen, held_us=held, missing_us=0, changes=changes,
        flapping=flapping,
    )  # fmt: skip


def _ripe(alert: Alert, rule: Rule, now_us: int) -> Alert:
    """Let a pending alert fire when it has been active for long enough."""
    if alert.seen is not Seen.ACTIVE or alert.held_us < rule.for_us:
        return alert
    return replace(alert, phase=Phase.FIRING, fired_us=now_us, fixed=alert.labels)


def _calm_us(alert: Alert, rule: Rule) -> int:
    """Return for how long an alert must be quiet before it is over."""
    calm = rule.keep_firing_for_us
    return max(calm, rule.flapping.window_us) if alert.flapping else calm


def _given_up(alert: Alert, now_us: int) -> Alert | None:
    """End an alert of which nothing was heard for too long."""
    if alert.phase in (Phase.PENDING, Phase.RESOLVED):
        return None
    return replace(alert, phase=Phase.RESOLVED, ended_us=now_us)


def _after_the_end(alert: Alert, rule: Rule, now_us: int) -> Alert | None:
    """Begin anew when it comes back; forget it when it stays away."""
    assert alert.ended_us is not None
    if alert.seen is Seen.ACTIVE:
        again = replace(
            alert, phase=Phase.PENDING, since_us=now_us, fired_us=None, ended_us=None, group=""
        )
        return _ripe(again, rule, now_us)
    return alert if now_us - alert.ended_us < rule.flapping.window_us else None
