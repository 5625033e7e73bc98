"""`lctl get_param` output as parameters.

Output is read as a stream: a value of one line stands behind `name=`, a longer one below it, up to
the next name. Shell prompts and error messages in between belong to nobody.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pfscope.lustre.defects import Defects

_BOUNDARY: Final = re.compile(
    rb"^(?:(?P<name>[A-Za-z][\w+-]*(?:\.[\w@:+-]+)+)=\n?"
    rb"|(?:\[[^\]\n]*\] ?[#$%>]|\S*[#$>] +(?:sudo +)?lctl )[^\n]*\n?"
    rb"|(?P<error>(?:lctl: )?error: )[^\n]*\n?)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class ParameterValue:
    """One parameter: the content of its file, and where in the input that begins."""

    name: str
    value: bytes
    offset: int


def iter_parameters(
    chunks: bytes | Iterable[bytes], *, offset: int = 0, defects: Defects | None = None
) -> Iterator[ParameterValue]:
    """Split raw output; text that belongs to no parameter is counted in `defects`."""
    splitter = _Splitter(offset, Defects() if defects is None else defects)
    tail: list[bytes] = []
    for chunk in [chunks] if isinstance(chunks, bytes) else chunks:
        lines, newline, rest = chunk.rpartition(b"\n")
        if newline:
            yield from splitter.feed(b"".join((*tail, lines, newline)))
            tail.clear()
        tail.append(rest)
    yield from splitter.feed(b"".join(tail))
    yield from splitter.end()


class _Splitter:
    """Takes whole lines, gives each parameter as soon as the next one begins."""

    def __init__(self, offset: int, defects: Defects) -> None:
        self._offset = offset
        self._defects = defects
        self._name: str | None = None
        self._begin = offset
        self._parts: list[bytes] = []

    def feed(self, text: bytes) -> Iterator[ParameterValue]:
        done = 0
        for match in _BOUNDARY.finditer(text):
            self._keep(text[done : match.start()], self._offset + done)
            done = match.end()
            if match["error"] is None:
                yield from self.end()
                self._name = match["name"].decode() if match["name"] else None
                self._begin = self._offset + done
        self._keep(text[done:], self._offset + done)
        self._offset += len(text)

    def end(self) -> Iterator[ParameterValue]:
        if self._name is not None:
            yield ParameterValue(self._name, b"".join(self._parts), self._begin)
        self._name, self._parts = None, []

    def _keep(self, text: bytes, offset: int) -> None:
        if self._name is not None:
            self._parts.append(text)
        elif text.strip():
            self._defects.add(offset, "text of no parameter")


def parse_integer(value: bytes) -> int | None:
    """Read a file that holds one integer; None if it holds something else."""
    text = value.strip()
    return int(text) if re.fullmatch(rb"-?\d{1,20}", text) else None
