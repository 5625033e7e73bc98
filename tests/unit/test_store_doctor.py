"""`pfscope doctor` finds every kind of damage that it promises to find, and nothing in health."""

import duckdb
import pyarrow as pa
import pytest

from pfscope.cli.main import main
from pfscope.frames import FrameLog
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from pfscope.store.protocol import LedgerChange
from tests.support.frame_samples import *  # noqa: F403
from tests.support.store_rows import at, frames, series, usage, whole_batch

EAGER = Rules(settle_us=0, quiet_us=0)
