"""A store as an audience may see it: foreign names are pseudonyms before any question is asked.

`series` and `jobs` are put before a question as tables of the same shape, in which only what the
audience sees has its name. All that a question does, grouping, filtering, sorting, looking for a
name that is like another, it does with what is shown: there is nothing left in it to be found out.
A pseudonym is made once for each distinct name, and for those columns alone that a question has.
"""

# ruff: noqa: S608 - what is put together here are names of the schema; values are parameters

import re
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from pfscope.privacy.audience import Audience
from pfscope.privacy.pseudonyms import DayKey, sql
from pfscope.query.engine import Queryable
from pfscope.query.keys import regex
from pfscope.store.schema import JOBS, SERIES

NAMED: Final = {
    "user": "user", "group": "group", "job": "job", "array_job": "array", "node": "node",
    "executable": "executable",
}  # fmt: skip
"""The columns of `series` that name people and what is theirs, and the kinds of pseudonyms."""
PLACES: Final = ("series", "filesystem", "target", "kind", "class", "system", "first_seen")
"""The columns that are shown to all; whatever is in neither is shown to nobody."""
OF_JOBS: Final = ("project", "group")
LOGIN: Final = "login-node"
"""The kind of pseudonym of nodes on which people log in: they can be told from others."""
MASKED_LOGIN: Final = f"{LOGIN}-*"
Within = tuple[str, Sequence[object]]
"""Which series can matter, as a condition in SQL and its parameters: others are left out."""


class Masked:
    """A store, as an audience may see it under the pseudonyms of a day."""

    def __init__(
        self,
        store: Queryable,
        audience: Audience,
        key: DayKey,
        login_nodes: Sequence[str] = (),
        within: Within = ("true", ()),
    ) -> None:
        self._store, self._audience, self._key = store, audience, key
        self._within = within
        patterns = [regex(pattern) for pattern in login_nodes if not pattern.startswith("!")]
        self._login = "|".join(patterns)

    def query(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Return the rows."""
        words = set(re.findall(r"\w+", sql))
        if not words & {"series", "jobs"}:
            return self._store.query(sql, parameters)
        before, own = self._tables(words)
        return self._store.query(f"WITH {before} FROM ({sql})", [*own, *parameters])

    def _tables(self, words: set[str]) -> tuple[str, list[object]]:
        """Return the tables that go before a question of these words, and their parameters."""
        needed = [column for column in NAMED if column in words or NAMED[column] in words]
        shown, parameters = self._audience.condition()
        within, within_parameters = self._within
        tables = [
            "pads AS (SELECT ?::BLOB AS inside, ?::BLOB AS outside)",
            f"known AS MATERIALIZED (SELECT *, {shown} AS shown FROM main.series WHERE {within})",
        ]
        parameters = [*self._key.pads, *parameters, *within_parameters]
        for column in needed:
            tables.append(self._names(column))
            parameters += [self._login] if column == "node" and self._login else []
        tables.append(f"series AS ({_series(needed)})")
        if "jobs" in words:
            of_job, more = self._audience.of_jobs()
            tables.append(f"jobs AS ({_jobs(of_job)})")
            parameters += more
        return ", ".join(tables), parameters

    def _names(self, column: str) -> str:
        """Return the table of all pseudonyms of a column: owner, value, alias."""
        kind = NAMED[column]
        owner = "NULL" if column == "user" else "owner"
        alias = sql(kind, owner, "value")
        if column == "node" and self._login:
            login = sql(LOGIN, owner, "value")
            alias = f"CASE WHEN regexp_matches(value, ?) THEN {login} ELSE {alias} END"
        distinct = (
            f'SELECT DISTINCT "user" AS owner, "{column}" AS value FROM known '
            f'WHERE NOT shown AND "{column}" IS NOT NULL'
        )
        return f"names_{column} AS (SELECT owner, value, {alias} AS alias FROM ({distinct}))"


def _series(needed: Sequence[str]) -> str:
    columns = [_column(name, needed) for name in SERIES.names]
    joins = [
        f'LEFT JOIN names_{name} ON NOT known.shown AND known."{name}" = names_{name}.value '
        f'AND known."user" IS NOT DISTINCT FROM names_{name}.owner'
        for name in needed
    ]
    return f"SELECT {', '.join(columns)} FROM known {' '.join(joins)}"


def _column(name: str, needed: Sequence[str]) -> str:
    if name in PLACES:
        return f'known."{name}"'
    if name in needed:
        return f'CASE WHEN known.shown THEN known."{name}" ELSE names_{name}.alias END AS "{name}"'
    return f'NULL::VARCHAR AS "{name}"'


def _jobs(of_job: str) -> str:
    """Return what the scheduler says of jobs, under the names that they have in `series`.

    A job id in somebody's row may be another's: what the scheduler says of it is shown by name only
    where the job is of somebody whom the audience sees.
    """
    named = {name: _of_job(name) for name in OF_JOBS}
    job = f"CASE WHEN shown THEN job ELSE {sql('job', 'owner', 'job')} END"
    shown_to_all = {name: f'"{name}"' for name in ("partition", "recorded")}
    columns = {"job": job, **named, **shown_to_all}
    told = [
        f'{columns[field.name]} AS "{field.name}"' if field.name in columns
        else f'NULL AS "{field.name}"'
        for field in JOBS
    ]  # fmt: skip
    return (
        f"SELECT {', '.join(told)} FROM (SELECT *, {of_job} AS theirs FROM main.jobs) JOIN "
        '(SELECT DISTINCT "user" AS owner, job AS of, shown FROM known WHERE job IS NOT NULL) '
        "ON job = of"
    )


def _of_job(name: str) -> str:
    hidden = sql(name, "owner", f'"{name}"')
    return f'CASE WHEN NOT shown THEN {hidden} WHEN theirs THEN "{name}" END'
