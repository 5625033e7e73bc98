"""How much an incident matters: what nobody feels pages nobody, however odd it is."""

import pytest

from pfscope.watch.model import Change, Direction, Severity, Signal
from pfscope.watch.severity import severity

MIB = 2**20


def lead(measure, baseline, peak, unit="requests"):
    signal = Signal("scratch", "target", "scratch-MDT0000", measure, unit)
    return Change(signal, Direction.UP, 0, 1, None, baseline, peak)


@pytest.mark.parametrize(
    ("measure", "baseline", "peak", "kind", "expected"),
    [
        ("metadata", 500.0, 3000.0, "metadata_storm", Severity.WARNING),
        ("metadata", 500.0, 6000.0, "metadata_storm", Severity.CRITICAL),
        ("metadata", 2000.0, 6000.0, "metadata_storm", Severity.INFO),
        ("metadata", 5.0, 600.0, "metadata_storm", Severity.INFO),
        ("bytes", 50.0 * MIB, 400.0 * MIB, "hot_file", Severity.WARNING),
        ("bytes", 50.0 * MIB, 900.0 * MIB, "periodic_checkpoint", Severity.INFO),
        ("bytes", 1.0 * MIB, 150.0 * MIB, "hot_file", Severity.INFO),
        ("unlink", 1.0, 9000.0, "temporary_files", Severity.INFO),
        ("malformed", 0.0, 0.9, "malformed_ids", Severity.INFO),
    ],
)
def test_severity_is_by_what_others_feel(measure, baseline, peak, kind, expected):
    assert severity(lead(measure, baseline, peak), kind) is expected
