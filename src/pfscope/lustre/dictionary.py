"""Strings kept once: each distinct value gets the next small number."""

from collections.abc import Iterable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value", bytes, str)


class Dictionary(Generic[Value]):
    """Values in the order in which they were first seen, and the number of each."""

    __slots__ = ("_numbers", "values")

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._numbers: dict[Value, int] = {}

    def number(self, value: Value) -> int:
        """Return the number of a value, a new one if it is new."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number

    def numbers(self, values: Iterable[Value]) -> NDArray[np.int32]:
        """Return the number of each value."""
        number = self.number
        return np.fromiter((number(v) for v in values), np.int32)
