"""The frame log: how collections are written, kept, read back and repaired.

One format serves the agent's spool, the server's journal, archives, recordings and test fixtures.
Standard library only, in the syntax of Python 3.6, because the agent ships it. `record` specifies
the bytes, `log` the directory.
"""

from pfscope.frames.builder import FrameBuilder
from pfscope.frames.errors import FrameError, FramesError, LogBusy, LogFull
from pfscope.frames.files import frame_files, iter_frames, scan_file
from pfscope.frames.frame import Frame, Section, decode, encode
from pfscope.frames.log import FrameLog
from pfscope.frames.meta import Origin, SectionInfo
from pfscope.frames.scan import Damage, Found, scan
from pfscope.frames.segment import Position

__all__ = [
    "Damage",
    "Found",
    "Frame",
    "FrameBuilder",
    "FrameError",
    "FrameLog",
    "FramesError",
    "LogBusy",
    "LogFull",
    "Origin",
    "Position",
    "Section",
    "SectionInfo",
    "decode",
    "encode",
    "frame_files",
    "iter_frames",
    "scan",
    "scan_file",
]
