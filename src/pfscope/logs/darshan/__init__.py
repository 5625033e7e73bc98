"""Darshan's logs as columns: versions 3.00 to 3.41, both byte orders, all compressions.

Logs are untrusted: what does not fit is refused with its reason, in bounded memory and time.
"""

from pfscope.logs.darshan.counters import Counters
from pfscope.logs.darshan.dxt import Segments
from pfscope.logs.darshan.errors import LIMITS, DarshanError, Limits
from pfscope.logs.darshan.header import MODULES, Header, ModuleHeader
from pfscope.logs.darshan.heatmap import Heatmap
from pfscope.logs.darshan.job import Job, Mount, user_of
from pfscope.logs.darshan.log import DarshanLog
from pfscope.logs.darshan.lustre import Layouts
from pfscope.logs.darshan.names import Names, as_text

__all__ = [
    "LIMITS", "MODULES", "Counters", "DarshanError", "DarshanLog", "Header", "Heatmap", "Job",
    "Layouts", "Limits", "ModuleHeader", "Mount", "Names", "Segments", "as_text", "user_of",
]  # fmt: skip
