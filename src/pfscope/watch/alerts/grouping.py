"""Groups of alerts that are told together: opened once, kept up to date, closed once.

A group lives from the first alert that is told to the end of the last one. Whoever heard of its
beginning hears of its end, whatever is muted meanwhile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pfscope.watch.alerts.model import (
    Alert,
    Kind,
    Labels,
    Notification,
    Phase,
    digest,
    labels_from,
    listed,
    rank,
)
from pfscope.watch.alerts.muting import FIRED
from pfscope.watch.alerts.rules import Rule


@dataclass(frozen=True, slots=True)
class Group:
    """What receivers were told of some alerts."""

    key: str
    opened_us: int
    notify: tuple[str, ...]
    labels: Labels
    told_us: int
    sequence: int
    told: Mapping[str, str]
    """The highest severity with which each alert was told, by its id."""
    repeat_us: int | None
    update_us: int

    @property
    def id(self) -> str:
        """The same as long as the group lives."""
        return digest(self.key, str(self.opened_us))

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {
            "labels": listed(self.labels),
            "notify": list(self.notify),
            "told": dict(self.told),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Group":
        """Undo `as_json`."""
        labels = labels_from(plain["labels"])
        return cls(**{**plain, "labels": labels, "notify": tuple(plain["notify"])})


def group_of(alert: Alert, rule: Rule) -> str:
    """Return the key of the group that an alert belongs to; empty: nobody is to be told."""
    if not rule.notify:
        return ""
    values = [f"{label}={value}" for label, value in _common(alert, rule).items()]
    return digest(*sorted(rule.notify), *rule.group_by, *values)


def _common(alert: Alert, rule: Rule) -> Labels:
    return {label: alert.labels.get(label, ()) for label in rule.group_by}


def update(
    groups: Mapping[str, Group],
    alerts: Sequence[Alert],
    rules: Mapping[str, Rule],
    muted: Mapping[str, str],
    now_us: int,
) -> tuple[dict[str, Group], list[Notification]]:
    """Return the groups as they are now, and what is to be told."""
    members: dict[str, list[Alert]] = {key: [] for key in groups}
    for alert in alerts:
        if alert.group:
            members.setdefault(alert.group, []).append(alert)
    now: dict[str, Group] = {}
    due: list[Notification] = []
    for key, those in members.items():
        group, notification = _next(groups.get(key), those, rules, muted, now_us)
        if notification is not None:
            due.append(notification)
        if group is not None:
            now[key] = group
    return now, due


def _next(
    group: Group | None,
    members: list[Alert],
    rules: Mapping[str, Rule],
    muted: Mapping[str, str],
    now_us: int,
) -> tuple[Group | None, Notification | None]:
    """Return what becomes of one group, and what is to be told of it."""
    heard = [a for a in members if a.phase is Phase.FIRING and a.id not in muted]
    if group is None:
        if not heard:
            return None, None
        return _tell(_opened(heard[0], rules[heard[0].rule], now_us), Kind.FIRING, heard, now_us)
    told = [alert for alert in members if alert.id in group.told]
    fresh = [alert for alert in heard if _is_news(alert, group)]
    still_open = [alert for alert in told if alert.phase in FIRED]
    if not still_open and not fresh:
        return None, _tell(group, Kind.RESOLVED, told, now_us)[1]
    if fresh and (now_us - group.told_us >= group.update_us or _is_worse(fresh, group)):
        return _tell(group, Kind.UPDATE, _once([*fresh, *told]), now_us)
    known = [alert for alert in heard if alert.id in group.told]
    if known and group.repeat_us is not None and now_us - group.told_us >= group.repeat_us:
        return _tell(group, Kind.REPEAT, known, now_us)
    return group, None


def _is_news(alert: Alert, group: Group) -> bool:
    """Tell whether receivers do not know of an alert, or not how severe it is."""
    told = group.told.get(alert.id)
    return told is None or rank(alert.severity) > rank(told)


def _is_worse(fresh: list[Alert], group: Group) -> bool:
    """Tell whether something is more severe than all that receivers know of: that cannot wait."""
    return max(rank(alert.severity) for alert in fresh) > max(map(rank, group.told.values()))


def _once(alerts: list[Alert]) -> list[Alert]:
    return list({alert.id: alert for alert in alerts}.values())


def _opened(alert: Alert, rule: Rule, now_us: int) -> Group:
    return Group(
        alert.group, now_us, rule.notify, _common(alert, rule), now_us, 0, {},
        rule.repeat_us, rule.update_us,
    )  # fmt: skip


def _tell(group: Group, kind: Kind, alerts: list[Alert], now_us: int) -> tuple[Group, Notification]:
    """Return the group after something was told of it, and what."""
    key = f"{group.id}-{group.sequence}"
    notification = Notification(
        key, group.id, kind, now_us, group.notify, group.labels, tuple(alerts)
    )
    highest = {
        alert.id: max(alert.severity, group.told.get(alert.id, "info"), key=rank)
        for alert in alerts
    }
    told = {**group.told, **highest}
    return replace(group, told_us=now_us, sequence=group.sequence + 1, told=told), notification
