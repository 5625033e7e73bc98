"""What is known of one run, brought together before anything is concluded from it."""

from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from pfscope.mine.both_sides import BothSides
from pfscope.mine.factors import Worked
from pfscope.mine.factors_cohort import Cohort
from pfscope.mine.factors_osts import OstUse
from pfscope.mine.factors_others import Others
from pfscope.mine.factors_rules import Rules

Severity = Literal["critical", "warning", "info", "good"]
SEVERITIES: Final = ("critical", "warning", "info", "good")
Evidence = dict[str, float | int | str | None]


class Finding(NamedTuple):
    """One thing that was found, with what it was concluded from."""

    code: str
    severity: Severity
    text: str
    advice: str
    evidence: Evidence
    drishti: tuple[str, ...] = ()
    """Drishti's codes for the same."""

    def told(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return self._asdict() | {"drishti": list(self.drishti)}


class Facts(NamedTuple):
    """All about a run."""

    rules: Rules
    job: dict[str, Any]
    """Its row of `darshan_job`."""
    run: dict[str, Any]
    """Its factors."""
    worked: Worked
    use: OstUse
    ranks: dict[int, float]
    """Ranks on the critical path, and their shares of it."""
    flushed_s: float | None
    """The critical time of writes if flushes belong to them."""
    cohort: Cohort | None
    peers: pa.Table | None
    """The factors of the runs of the same program, this one included."""
    others: Others | None
    servers: tuple[BothSides, ...] = ()
    """Its reads and writes as the servers saw them, where they were watched."""

    def counted(self, form: str) -> int:
        """Return the sum of a counter over reads and writes as asked: `posix_{}s`."""
        names = (form.format(kind) for kind in self.rules.kinds)
        return sum(self.job[name] or 0 for name in names)

    def value(self, factor: str) -> float:
        """Return a factor; one that is not known is NaN, and passes no threshold."""
        found = self.run[factor]
        return float("nan") if found is None else float(found)

    def of_critical(self, column: str, row: int) -> Any:
        """Return what is known of a file, by its row."""
        return self.worked.files[column][row].as_py()

    @property
    def top_file(self) -> int | None:
        """The row of the file that most of the critical time goes to."""
        exclusive = self.worked.exclusive
        return int(np.argmax(exclusive)) if len(exclusive) and exclusive.max() > 0 else None

    @property
    def shared_share(self) -> float:
        """Which part of the critical time goes to files that several ranks used."""
        shared = self.worked.files["ranks"].to_numpy(zero_copy_only=False).astype(float) > 1
        whole = self.worked.exclusive.sum()
        return float(self.worked.exclusive[shared].sum() / whole) if whole else 0.0
