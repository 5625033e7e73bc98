"""The keys: what each does, in one list from which the window and its help are made."""

from typing import Final, NamedTuple


class Key(NamedTuple):
    """Keys that do one thing; `names` are Textual's, `shown` is what people read."""

    names: str
    shown: str
    action: str
    help: str
    hint: str = ""
    """How it is called in the last line, if it stands there."""


KEYS: Final = (
    Key("f", "f", "group('filesystem')", "group by file system"),
    Key("s", "s", "group('server')", "group by server"),
    Key("t", "t", "group('target')", "group by target"),
    Key("u", "u", "group('user')", "group by user", "User"),
    Key("j", "j", "group('job')", "group by job", "Job"),
    Key("n", "n", "group('node')", "group by node", "Node"),
    Key("e", "e", "group('executable')", "group by executable"),
    Key("p", "p", "group('project')", "group by project"),
    Key("l,L", "l", "sort('load')", "sort by effective load"),
    Key("i,I", "i", "sort('iops')", "sort by requests"),
    Key("b", "b", "sort('bytes')", "sort by bytes"),
    Key("m", "m", "sort('metadata')", "sort by metadata"),
    Key("r", "r", "sort('read_bytes')", "sort by bytes read"),
    Key("w", "w", "sort('write_bytes')", "sort by bytes written"),
    Key("less_than_sign,comma", "<", "sort_beside(-1)", "sort by the column before"),
    Key("greater_than_sign,full_stop,f6", ">", "sort_beside(1)", "sort by the next column"),
    Key("enter", "Enter", "deeper", "what the row consists of", "Look in"),
    Key("escape,backspace", "Esc", "leave", "back to where you were", "Back"),
    Key("slash,f3,f4", "/", "filter", "only names that contain this", "Filter"),
    Key("d", "d", "detail", "every operation by itself", "Detail"),
    Key("c,f2", "c", "columns", "choose columns"),
    Key("exclamation_mark", "!", "incidents", "incidents, and what to do"),
    Key("space", "Space", "pause", "stand still, or go on", "Pause"),
    Key("left", "←", "seek(-1)", "an observation back"),
    Key("right", "→", "seek(1)", "an observation forward"),
    Key("shift+left", "Shift ←", "seek(-10)", "ten observations back"),
    Key("shift+right", "Shift →", "seek(10)", "ten observations forward"),
    Key("tab", "Tab", "jump(60)", "a minute forward"),
    Key("shift+tab", "Shift Tab", "jump(-60)", "a minute back"),
    Key("at", "@", "go", "go to a time, as -2h"),
    Key("plus,equals_sign", "+", "speed(1)", "faster"),
    Key("minus", "-", "speed(-1)", "slower"),
    Key("end,a", "End", "live", "back to now"),
    Key("up,ctrl+p", "↑", "move(-1)", "the row above"),
    Key("down,ctrl+n", "↓", "move(1)", "the row below"),
    Key("pageup,ctrl+u", "PgUp", "page(-1)", "a page up"),
    Key("pagedown,ctrl+d", "PgDn", "page(1)", "a page down"),
    Key("home", "Home", "move(-100000)", "the first row"),
    Key("question_mark,h,f1", "?", "keys", "show these keys", "Keys"),
    Key("q,f10", "q", "quit", "quit", "Quit"),
)
