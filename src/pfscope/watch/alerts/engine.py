"""The state machine of all alerts: observations in, notifications out; no I/O, no clock of its own.

The same observations at the same times give the same notifications with the same keys, in every
run. What it holds is plain JSON, taken out and put back around a restart; the time in which nobody
ran it counts for nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pfscope.watch.alerts.grouping import Group, group_of, update
from pfscope.watch.alerts.model import Alert, Notification, Observation, Phase, Seen
from pfscope.watch.alerts.muting import muted_by
from pfscope.watch.alerts.rules import Flapping, OnIncidents, Rule
from pfscope.watch.alerts.silences import Silence
from pfscope.watch.alerts.states import begin, step

LIMIT: Final = 200
"""So many alerts of one rule at a time; the others are counted only."""
_Key = tuple[str, str]


class Engine:
    """The states of all alerts and groups."""

    def __init__(self, rules: Iterable[Rule], state: Mapping[str, Any] | None = None) -> None:
        self.rules = {rule.name: rule for rule in rules}
        self.muted: dict[str, str] = {}
        """Why alerts are muted, by their ids, as of the last step."""
        self.overflow: Counter[str] = Counter()
        """Alerts beyond the limit, by rule, in the last step."""
        self._alerts: dict[_Key, Alert] = {}
        self._retired: set[str] = set()
        """Rules that are gone, while alerts of theirs are to be ended."""
        self._groups: dict[str, Group] = {}
        self._last_us: int | None = None
        if state is not None:
            self._restore(state)

    @property
    def alerts(self) -> list[Alert]:
        """All alerts, those that ended lately too."""
        return list(self._alerts.values())

    def advance(
        self,
        now_us: int,
        observations: Iterable[Observation] = (),
        silences: Sequence[Silence] = (),
        at_us: int | None = None,
    ) -> list[Notification]:
        """Go on to a time with what was observed; return what is to be told.

        States go by the time `at_us` of what was observed, where that is another one than now.
        """
        at_us = now_us if at_us is None else at_us
        single, sweeps = _sorted(observations)
        sweeps |= dict.fromkeys(self._retired, Seen.QUIET)
        elapsed_us = 0 if self._last_us is None else max(at_us - self._last_us, 0)
        self._last_us = at_us
        self._step_known(single, sweeps, at_us, elapsed_us)
        self._begin_new(single.values(), at_us)
        self.muted = muted_by(self._alerts.values(), self.rules, silences, now_us)
        self._groups, due = update(self._groups, self.alerts, self.rules, self.muted, now_us)
        return due

    def state(self) -> dict[str, Any]:
        """Return all that a restart must not lose."""
        return {
            "alerts": [alert.as_json() for alert in self._alerts.values()],
            "groups": [group.as_json() for group in self._groups.values()],
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Take up the state of an earlier run; alerts of rules that are gone are over."""
        for plain in state["alerts"]:
            alert = Alert.from_json(plain)
            if alert.rule not in self.rules:
                self.rules[alert.rule] = _retired(alert.rule)
                self._retired.add(alert.rule)
            # Nobody has looked since: it is as it was when somebody says so.
            self._alerts[alert.rule, alert.instance] = replace(alert, seen=Seen.MISSING)
        for plain in state["groups"]:
            group = Group.from_json(plain)
            self._groups[group.key] = group

    def _step_known(
        self,
        single: Mapping[_Key, Observation],
        sweeps: Mapping[str, Seen],
        at_us: int,
        elapsed_us: int,
    ) -> None:
        kept: dict[_Key, Alert] = {}
        for key, alert in self._alerts.items():
            told = single.get(key)
            seen = told.seen if told else sweeps.get(alert.rule, alert.seen)
            rule = self.rules[alert.rule]
            if after := step(alert, seen, rule, at_us, elapsed_us, told):
                kept[key] = self._grouped(after)
        self._alerts = kept

    def _begin_new(self, single: Iterable[Observation], at_us: int) -> None:
        counts = Counter(a.rule for a in self._alerts.values() if a.phase is not Phase.RESOLVED)
        self.overflow = Counter()
        for seen in single:
            assert seen.instance is not None
            key = seen.rule, seen.instance
            if seen.seen is not Seen.ACTIVE or key in self._alerts or seen.rule not in self.rules:
                continue
            if counts[seen.rule] >= LIMIT:
                self.overflow[seen.rule] += 1
                continue
            counts[seen.rule] += 1
            self._alerts[key] = self._grouped(begin(seen, self.rules[seen.rule], at_us))

    def _grouped(self, alert: Alert) -> Alert:
        """Give an alert that fires a group, once."""
        if alert.phase is not Phase.FIRING or alert.group:
            return alert
        return replace(alert, group=group_of(alert, self.rules[alert.rule]))


def _retired(name: str) -> Rule:
    """Return what stands for a rule that is gone: whatever it told of is over at once."""
    return Rule(name, OnIncidents(), keep_firing_for_us=0, flapping=Flapping(window_us=0))


def _sorted(
    observations: Iterable[Observation],
) -> tuple[dict[_Key, Observation], dict[str, Seen]]:
    """Return what was seen of single things, the last word of each, and of all others of a rule."""
    single: dict[_Key, Observation] = {}
    sweeps: dict[str, Seen] = {}
    for seen in observations:
        if seen.instance is None:
            sweeps[seen.rule] = seen.seen
        else:
            single[seen.rule, seen.instance] = seen
    return single, sweeps
