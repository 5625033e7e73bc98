"""Incidents as an audience may see them: causes under pseudonyms, and no command with a name in it.

What kind a change is, how large and where, is for all. Who is behind it, by name, is for whoever
sees that user's work by name; admins' words, about whom, are for those who see everybody.
"""

# ruff: noqa: S608 - what is put together here are names of the schema; values are parameters

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from pfscope.privacy.audience import Audience
from pfscope.privacy.pseudonyms import DayKey, Pseudonyms
from pfscope.query.engine import Queryable

Record = Mapping[str, Any]
Member = tuple[str, str | None]
"""A user, and a job if a cause has one."""
WHO: Final = ("user", "job", "node", "executable")
_CARED: Final = "an admin"
_BLURRED: Final = "The details are for admins."


class Told:
    """Incidents, told to one audience."""

    def __init__(
        self,
        store: Queryable,
        audience: Audience,
        pseudonyms: Pseudonyms,
        records: Sequence[Record],
    ) -> None:
        self._audience, self._pseudonyms = audience, pseudonyms
        self._named = _named(store, audience, records)

    def of(self, record: Record) -> Record:
        """Return an incident as it may be told."""
        if self._audience.everything:
            return record
        key = self._pseudonyms.of(record["start_us"] + 1)
        causes = [self._cause(cause, key) for cause in record["causes"]]
        told = {**record, "causes": causes, "advice": _advice(record["advice"])}
        told["evidence"] = _evidence(record.get("evidence", {}))
        care = record.get("acknowledged")
        if care is not None:
            told["acknowledged"] = {**care, "author": _CARED, "comment": ""}
        return told

    def _cause(self, cause: Mapping[str, Any], key: DayKey) -> Mapping[str, Any]:
        user = cause["user"]
        if user is None or (user, cause["job"]) in self._named:
            return cause
        return {**cause, **{kind: _alias(key, kind, cause) for kind in WHO}}


def _alias(key: DayKey, kind: str, cause: Mapping[str, Any]) -> str | None:
    value = cause[kind]
    owner = None if kind == "user" else cause["user"]
    return None if value is None else key.name(kind, owner, value)


def _advice(advice: Mapping[str, Any]) -> dict[str, Any]:
    return {**advice, "admin": _BLURRED, "commands": []}


def _evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the evidence that is about numbers: signs may quote programs."""
    return {name: value for name, value in evidence.items() if name == "measure"}


def _named(store: Queryable, audience: Audience, records: Sequence[Record]) -> Collection[Member]:
    """Return which users, and jobs of theirs, an audience sees by name."""
    causes = [cause for record in records for cause in record["causes"]]
    wanted = {(cause["user"], cause["job"]) for cause in causes if cause["user"] is not None}
    own = {member for member in wanted if audience.sees(member[0])}
    others = wanted - own
    if not others or not (audience.groups or audience.projects):
        return own
    return own | {member for member in others if _sees_all(store, audience)(member)}


def _sees_all(store: Queryable, audience: Audience) -> Callable[[Member], bool]:
    """Return what tells whether an audience sees all that somebody did by name."""
    condition, parameters = audience.condition()
    question = f"""SELECT bool_and({condition}) AS seen FROM main.series
        WHERE "user" = ? AND (?::VARCHAR IS NULL OR job = ?)"""

    def sees(member: Member) -> bool:
        user, job = member
        found = store.query(question, [*parameters, user, job, job]).to_pylist()
        return bool(found[0]["seen"])

    return sees
