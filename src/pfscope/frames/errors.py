"""What can go wrong with frames and their logs, told in sentences for people.

FramesError
├── FrameError      bytes that are not the frame they should be
├── LogBusy         another process writes to this log
└── LogFull         there is no room for the frame; the log is as it was before
"""


class FramesError(Exception):
    """The base of all errors of this room."""


class FrameError(FramesError):
    """Bytes that are not a whole frame, or a frame that is not what it declares."""


class LogBusy(FramesError):  # noqa: N818 - named for what is the case
    """Another process writes to this log."""


class LogFull(FramesError):  # noqa: N818
    """There is no room for this frame; everything appended before is unharmed."""
