"""Which usage a question is about: the time, and who and where by patterns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pfscope.query.keys import check
from pfscope.query.window import Window


@dataclass(frozen=True)
class Selection:
    """Some usage."""

    window: Window
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Patterns by key; all keys must fit."""
    system: bool | None = None
    """Only that of system users, only that of others; None: both."""
    login: bool | None = None
    """Only that from login nodes, only that from others; None: both."""
    login_nodes: Sequence[str] = ()
    """How login nodes are called."""
    horizon_us: int | None = None
    """No row that reaches into the window ends later than this."""

    def __post_init__(self) -> None:
        check(list(self.where))
