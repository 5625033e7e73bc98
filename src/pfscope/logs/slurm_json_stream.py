"""A cursor in JSON that arrives in pieces: one value after another, each whole, none too large.

Bytes that are not UTF-8 stay what they are, as lone surrogates.
"""

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

VALUE_LIMIT: Final = 1 << 26
"""Characters of one value; a job with its steps has some thousand."""
_SPACE: Final = " \t\r\n"


class BrokenJsonError(ValueError):
    """The text ends, or is no JSON, where something should be."""


class JsonStream:
    """Reads values from the front of the text, and more text when it has to."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._scanner = json.JSONDecoder(strict=False)
        self._text = ""
        self._at = 0

    def peek(self) -> str:
        """Return the next character that is no space, which stays; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def expect(self, character: str) -> None:
        """Step over a character that has to be there."""
        if self.peek() != character:
            raise BrokenJsonError
        self._at += 1

    def elements(self) -> Iterator[Any]:
        """Yield the elements of a list."""
        self.expect("[")
        if self.peek() == "]":
            self._at += 1
            return
        yield self.value()
        while self.peek() != "]":
            self.expect(",")
            yield self.value()
        self._at += 1

    def value(self) -> Any:
        """Return the next value, whatever it is."""
        if not self.peek():
            raise BrokenJsonError
        while True:
            try:
                value, end = self._scanner.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                self._wait_for_more(error)
                continue
            except (ValueError, RecursionError) as error:
                raise BrokenJsonError from error
            if end < len(self._text):
                self._at = end
                return value
            # A number at the very end may go on in the next piece.
            length = end - self._at
            if not self._more():
                self._at = length
                return value

    def _wait_for_more(self, error: json.JSONDecodeError) -> None:
        if len(self._text) - self._at > VALUE_LIMIT or not self._more():
            raise BrokenJsonError from error

    def _more(self) -> bool:
        """Double what is left, so that a large value is scanned few times."""
        parts = [self._text[self._at :]]
        missing = len(parts[0]) or 1
        while missing > 0:
            chunk = next(self._chunks, None)
            part = self._decoder.decode(chunk or b"", final=chunk is None)
            parts.append(part)
            missing -= len(part)
            if chunk is None:
                break
        self._text, self._at = "".join(parts), 0
        return len(parts) > 1 and any(parts[1:])
