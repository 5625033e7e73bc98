"""Makes a frame from texts as they are read: each chunk is compressed at once and never kept.

What a builder holds is therefore as large as the frame, not as large as the texts.
"""

import zlib
from typing import Any, List, Mapping, Optional, Union

from pfscope.frames.frame import Frame, Section, encode
from pfscope.frames.meta import Origin, SectionInfo

Chunk = Union[bytes, bytearray, memoryview]
FAST = 1
"""The compression level: on counters' text the higher ones cost much and save little."""


class FrameBuilder:
    """Sections go in (`begin`, `add`…, `end`, or `section` for a whole one), a frame comes out."""

    def __init__(self, level: int = FAST) -> None:
        self._stream = zlib.compressobj(level)
        self._payload = bytearray()
        self._contents: List[SectionInfo] = []
        self._name: Optional[str] = None
        self._raw_bytes = 0

    @property
    def size_bytes(self) -> int:
        """Compressed bytes so far."""
        return len(self._payload)

    def begin(self, name: str) -> None:
        """Open a section."""
        assert self._name is None, "the section before is still open"
        self._name, self._raw_bytes = name, 0

    def add(self, chunk: Chunk) -> None:
        """Append raw text to the open section."""
        assert self._name is not None, "no section is open"
        self._raw_bytes += len(chunk)
        self._payload += self._stream.compress(chunk)

    def end(self, duration_us: int = 0) -> None:
        """Close the open section."""
        assert self._name is not None, "no section is open"
        self._contents.append(SectionInfo(self._name, self._raw_bytes, duration_us))
        self._name = None

    def section(self, section: Section) -> None:
        """Append a whole section."""
        self.begin(section.name)
        self.add(section.text)
        self.end(section.duration_us)

    def finish(self, origin: Origin, notes: Optional[Mapping[str, Any]] = None) -> bytes:
        """Return the encoded frame; the builder is used up."""
        assert self._name is None, "the last section is still open"
        self._payload += self._stream.flush()
        return encode(Frame(origin, tuple(self._contents), notes or {}, bytes(self._payload)))
