"""What somebody looks at: grouped by what, of whom, sorted how; and how to look closer."""

from dataclasses import dataclass, replace
from typing import Final

from pfscope.query.key_names import exactly, literally

Words = dict[str, list[str]]
Patterns = tuple[tuple[str, tuple[str, ...]], ...]

GROUPS: Final = {
    "filesystem": ("filesystem",), "server": ("server",), "target": ("target",),
    "user": ("user",), "job": ("job", "user"), "node": ("node",), "executable": ("executable",),
    "project": ("project",),
}  # fmt: skip
"""What stands in the rows of a group; a job's row tells its user, too."""
DEEPER: Final = {
    "filesystem": "server", "server": "target", "target": "user", "project": "user",
    "user": "job", "executable": "job", "job": "node", "node": "target",
}  # fmt: skip
"""What Enter shows of a row."""
ROWS: Final = 500


@dataclass(frozen=True)
class View:
    """One table."""

    by: tuple[str, ...] = ("user",)
    where: Patterns = ()
    """Patterns from the command line, by key."""
    path: tuple[tuple[str, str | None], ...] = ()
    """Names that were looked closer at, the outermost first."""
    typed: str = ""
    """What names must contain."""
    sort: str = "load"
    over: str | None = None
    limit: int = ROWS

    def words(self, at: str | None = None) -> Words:
        """Return it as the words of `/api/v1/now`."""
        words: Words = {"by": [",".join(self.by)], "sort": [self.sort], "limit": [str(self.limit)]}
        for key, patterns in self.where:
            words[key] = list(patterns)
        for key, name in self.path:
            words[key] = [exactly(name)]
        if self.typed and self.by[0] not in words:
            words[self.by[0]] = [f"*{literally(self.typed)}*"]
        if self.over is not None:
            words["over"] = [self.over]
        if at is not None:
            words["at"] = [at]
        return words

    def deeper(self, names: tuple[str | None, ...]) -> "View | None":
        """Return what a row consists of, or None where nothing is below it."""
        path = dict(self.path) | dict(zip(self.by, names, strict=True))
        key = DEEPER.get(self.by[0])
        tried: set[str] = set()
        while key in path and key not in tried:
            tried.add(key)
            key = DEEPER.get(key)
        if key is None or key in path:
            return None
        by = tuple(k for k in GROUPS[key] if k not in path)
        return replace(self, by=by, path=tuple(path.items()), typed="")

    def grouped(self, group: str) -> "View":
        """Return the same grouped otherwise."""
        return replace(self, by=GROUPS[group], typed="")

    def shows(self, names: tuple[str | None, ...]) -> bool:
        """Tell whether a row contains what was typed."""
        return self.typed in (names[0] or "")
