"""From frames to usage: parse, identify, difference; the same path live, imported and replayed.

Snapshots are columns; each is compared with what is remembered of the ones before it, in arrays.
"""

from pfscope.ingest.ingest import Ingest
from pfscope.ingest.series import Limits

__all__ = ["Ingest", "Limits"]
