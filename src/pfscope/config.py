"""The site's configuration: one TOML file, declared here once; unknown keys are refused by name.

Looked for in `--config FILE`, then `$PFSCOPE_CONFIG`, then /etc/pfscope/pfscope.toml.
"""

import argparse
import difflib
import math
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pfscope.errors import InputError, UsageError
from pfscope.lustre.identity import DEFAULT_FORMATS, SYSTEM_UID_BELOW, Identifier
from pfscope.lustre.jobid_format import SLURM_JOB
from pfscope.privacy.settings import Privacy, read_privacy
from pfscope.query.metrics import Metric
from pfscope.store.retention import Retention
from pfscope.watch.alerts.settings import Alerts, read_alerts

DEFAULT_PATH = Path("/etc/pfscope/pfscope.toml")
_METRIC = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_KINDS = ("mdt", "ost")
_TABLES = ("identity", "filesystem", "retention", "metric", "nodes", "alert", "notify", "privacy")


@dataclass(frozen=True)
class IdentityConfig:
    """How entry ids are written, in the whole site or on one file system."""

    jobid_name: tuple[str, ...] = DEFAULT_FORMATS
    """The formats that clients use, as in `lctl get_param jobid_name`."""
    job_pattern: str = SLURM_JOB
    """A regular expression that a job id fits."""
    system_uid_below: int = SYSTEM_UID_BELOW
    system_users: tuple[str, ...] = ()
    """Further user ids to mark as system users."""

    @cached_property
    def identifier(self) -> Identifier:
        """The reader of ids that this configures."""
        return Identifier(
            self.jobid_name,
            job_pattern=self.job_pattern,
            system_uid_below=self.system_uid_below,
            system_users=self.system_users,
        )


@dataclass(frozen=True)
class Config:
    """All that a site can configure."""

    identity: IdentityConfig = field(default_factory=IdentityConfig)
    filesystems: Mapping[str, IdentityConfig] = field(default_factory=dict)
    """`[filesystem.NAME.identity]`: what differs on one file system."""
    retention: Retention = field(default_factory=Retention)
    """`[retention]`: days for each table of the store."""
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    """`[metric.NAME]`: sums of operations that can be asked for by name."""
    login_nodes: tuple[str, ...] = ()
    """`[nodes] login`: how nodes are called on which people log in."""
    alerts: Alerts = field(default_factory=Alerts)
    """`[alert.NAME]` and `[notify.NAME]`: who is told of what."""
    privacy: Privacy = field(default_factory=Privacy)
    """`[privacy]`: who is who, and what others see of them."""

    def with_jobid_name(self, formats: Sequence[str]) -> "Config":
        """Return the same with other formats of entry ids, on all file systems."""
        return replace(
            self, identity=replace(self.identity, jobid_name=tuple(formats)), filesystems={}
        )

    def identifier(self, filesystem: str) -> Identifier:
        """Return the reader of ids on a file system."""
        return self.filesystems.get(filesystem, self.identity).identifier


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add `--config` to a command that needs to know the site."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="the site's configuration")


def load_config(path: Path | None = None) -> Config:
    """Read the configuration, or the defaults where there is no file."""
    chosen = path or (Path(p) if (p := os.environ.get("PFSCOPE_CONFIG")) else None)
    if chosen is None and not DEFAULT_PATH.exists():
        return Config()
    chosen = chosen or DEFAULT_PATH
    try:
        return parse_config(chosen.read_text(encoding="utf-8"), str(chosen))
    except OSError as error:
        raise InputError(f"cannot read the configuration {chosen}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{chosen} is not UTF-8 text") from error


def parse_config(text: str, name: str) -> Config:
    """Read a configuration from its text; `name` is what errors call it."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is not TOML: {error}") from error
    _refuse_unknown(tables, _TABLES, name)
    site = tables.get("identity", {})
    config = Config(
        _identity(site, f"{name}: [identity]"),
        {
            filesystem: _identity(
                site | _table(table, "identity", f"{name}: [filesystem.{filesystem}]"),
                f"{name}: [filesystem.{filesystem}.identity]",
            )
            for filesystem, table in tables.get("filesystem", {}).items()
        },
        _retention(tables.get("retention", {}), f"{name}: [retention]"),
        _metrics(tables.get("metric", {}), name),
        _login_nodes(tables.get("nodes", {}), f"{name}: [nodes]"),
        alerts=read_alerts(tables.get("alert", {}), tables.get("notify", {}), name),
        privacy=read_privacy(tables.get("privacy", {}), f"{name}: [privacy]"),
    )
    for identity in (config.identity, *config.filesystems.values()):
        _ = identity.identifier  # a format that makes no sense is told now, not at the first id
    return config


def _table(table: Any, key: str, where: str) -> dict[str, Any]:
    _refuse_unknown(table, (key,), where)
    inner: dict[str, Any] = table.get(key, {})
    return inner


def _identity(table: dict[str, Any], where: str) -> IdentityConfig:
    _refuse_unknown(table, tuple(f.name for f in fields(IdentityConfig)), where)
    kinds = {"jobid_name": list, "job_pattern": str, "system_uid_below": int, "system_users": list}
    for key, value in table.items():
        items = value if isinstance(value, list) else []
        if not isinstance(value, kinds[key]) or not all(isinstance(i, str) for i in items):
            kind = {list: "a list of strings", str: "a string", int: "a number"}[kinds[key]]
            raise UsageError(f"{where}: {key} must be {kind}")
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
    return IdentityConfig(**values)


def _retention(table: dict[str, Any], where: str) -> Retention:
    _refuse_unknown(table, tuple(f.name for f in fields(Retention)), where)
    for key, days in table.items():
        if not isinstance(days, int) or isinstance(days, bool):
            raise UsageError(f"{where}: {key} must be a number of days")
    return Retention(**table)


def _metrics(tables: Any, name: str) -> dict[str, Metric]:
    if not isinstance(tables, dict):
        raise UsageError(f"{name}: metric must be tables such as [metric.metadata]")
    return {key: _metric(key, table, f"{name}: [metric.{key}]") for key, table in tables.items()}


def _metric(name: str, table: Any, where: str) -> Metric:
    if not _METRIC.fullmatch(name):
        raise UsageError(f"{where}: a name is letters, digits, dashes and underscores")
    _refuse_unknown(table, ("weights", "kinds"), where)
    weights, kinds = table.get("weights"), table.get("kinds", list(_KINDS))
    if not isinstance(weights, dict) or not all(map(_is_weight, weights.values())):
        raise UsageError(f"{where}: weights must be numbers above 0, as in {{open = 2, close = 1}}")
    if not isinstance(kinds, list) or not kinds or not all(kind in _KINDS for kind in kinds):
        raise UsageError(f"{where}: kinds must be a list of {' and '.join(_KINDS)}")
    try:
        return Metric(name, {key: float(value) for key, value in weights.items()}, tuple(kinds))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _is_weight(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 < value < math.inf


def _login_nodes(table: Any, where: str) -> tuple[str, ...]:
    _refuse_unknown(table, ("login",), where)
    patterns = table.get("login", [])
    if not isinstance(patterns, list) or not all(isinstance(p, str) and p for p in patterns):
        raise UsageError(f'{where}: login must be a list of patterns, such as ["login*"]')
    return tuple(patterns)


def _refuse_unknown(table: Any, known: tuple[str, ...], where: str) -> None:
    if not isinstance(table, dict):
        raise UsageError(f"{where} must be a table")
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
            raise UsageError(f"{where}: unknown key {key!r}; {hint}")
