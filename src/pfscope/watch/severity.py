"""How much an incident matters: whether, and how far, a target's load rose; not how odd it is.

A single operation can be a hundred times as frequent as usual and nobody feels it. An incident is a
warning, or worse, only where a target's requests, bytes or work on metadata rose, by so much that
others may wait, and in a way for which the file system is not made.
"""

from typing import Final

from pfscope.watch.model import Change, Severity

CRITICAL_RATIO: Final = 10.0
WARNING_RATIO: Final = 4.0
FELT: Final = {"metadata": 1000.0, "iops": 1000.0, "bytes": 200.0 * 2**20}
"""By so much a second must one of these have risen; a metadata server does tens of thousands."""
MADE_FOR: Final = ("periodic_checkpoint", "streaming_read")
"""Large requests, one after the other, spread over targets."""


def severity(lead: Change, kind: str) -> Severity:
    """Return how severe an incident is by the change that stands for it, and by what it is."""
    felt = lead.peak - lead.baseline >= FELT.get(lead.signal.measure, float("inf"))
    if not felt or kind in MADE_FOR or lead.ratio < WARNING_RATIO:
        return Severity.INFO
    return Severity.CRITICAL if lead.ratio >= CRITICAL_RATIO else Severity.WARNING
