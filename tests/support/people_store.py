"""A store with people in it who must not find each other out, and servers that show it to them.

Anna and Ben share a node, a program, a job id that Ben made up, and a project; Carol
is known by name alone, Dora only to the scheduler; every name of Ben's is hostile, too.
"""

from contextlib import contextmanager

from pfscope.config import Config
from pfscope.privacy.settings import Privacy
from pfscope.query.asked import Site
from pfscope.query.metrics import SHIPPED
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from pfscope.server.tokens import Gate, TokenFile
from pfscope.store.embedded import open_store
from tests.support.query_tables import frames_at, named, one_series, used
from tests.support.server_world import server
from tests.support.store_rows import MINUTE_US, at, table

T0, T1, T2 = (at(minute=minute) for minute in (0, 2, 4))
MDT = "scratch-MDT0000"
SECRETS = (
    "20020002", "carol", "7300073", "7400074", "r02c02", "r03c03", "login7", "ben.x", "=cmd",
    "secretgroup", "secretproject", "benproject", "dora", "victim",
)  # fmt: skip
"""What Anna must never see in any answer, but for the job id that she made up herself."""
ANNA, BEN, CAROL = "20010001", "20020002", "carol"


def _series():
    rows = [
        ("20010001", "7100071", "r01c01", "vasp", "annagroup"),
        ("20010001", "7200072", "r01c01", "vasp", "annagroup"),  # Anna's row under Ben's job id
        ("20020002", "7200072", "r01c01", "ben.x", "secretgroup"),
        ("20020002", "7100071", "r02c02", "vasp", "annagroup"),  # Ben's row under Anna's job id
        ("20020002", "7300073", "r02c02", "=cmd", "secretgroup"),
        ("carol", "7400074", "r03c03", "victim", None),
        (None, "7500075", None, None, None),  # the scheduler says whose it is: Anna's
        (None, "7600076", None, None, None),  # and this one is Dora's
        ("20020002", None, "login7", "ben.x", None),
    ]
    names = ("user", "job", "node", "executable", "group")
    return [one_series(n, MDT, **dict(zip(names, row, strict=True)))
            for n, row in enumerate(rows)]  # fmt: skip


def _job(job, user, project, **more):
    return {"job": job, "user": user, "project": project, "recorded": T0, "submit": T0,
            "name": "secretname", "nodes": "r03c03", **more}  # fmt: skip


ROWS = {
    "operations": named("open", ("read_bytes", "bytes")),
    "series": _series(),
    "usage_mdt": [used(n, a, b, 60 * (n + 1)) for n in range(9) for a, b in ((T0, T1), (T1, T2))],
    "frames": frames_at(T0, T1, T2, server="mds1"),
    "jobs": [
        _job("7100071", "20010001", "annaproject"),
        _job("7200072", "20020002", "benproject"),
        _job("7300073", "20020002", "benproject"),
        _job("7400074", None, "secretproject", user_name="carol"),
        _job("7500075", "20010001", "annaproject"),
        _job("7600076", None, "secretproject", user_name="dora"),
    ],
    "quality": [
        {"time": time, "target": MDT, "server": "mds1", "class": "sound", "system": False,
         "entries": 9}
        for time in (T1, T2)
    ],
}  # fmt: skip
CAUSE = {"user": "20020002", "job": "7300073", "node": "r02c02", "executable": "=cmd", "share": 0.9,
         "confidence": 0.9}  # fmt: skip


WORDS = Site({**SHIPPED}, ("login*",))


def make_people(directory):
    with open_store(directory) as store:
        store.commit({name: table(name, rows) for name, rows in ROWS.items()}, [])
    return directory


class Served:
    """A running server, and how each sort of people asks it."""

    def __init__(self, world, tokens):
        self.world, self.url, self.tokens = world, world.url, tokens

    def ask(self, who, path, **parameters):
        """Ask as somebody; None is nobody."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        return self.world.client.get(path, params=parameters, headers=headers, timeout=60)

    def rows(self, who, question, **parameters):
        """Return the rows of an answer."""
        answer = self.ask(who, f"/api/v1/query/{question}", **parameters)
        assert answer.status_code == 200, answer.text
        told = answer.json()
        return [dict(zip(told["columns"], row, strict=True)) for row in told["rows"]]

    def now(self, who, **parameters):
        told = self.ask(who, "/api/v1/now", **parameters).json()
        return [dict(zip(told["columns"], row, strict=True)) for row in told["rows"]]


@contextmanager
def people(directory, pages=(), **privacy):
    """Serve the store to Anna, Ben, staff, an admin and nobody."""
    make_people(directory)
    file = TokenFile(directory)
    tokens = {
        "anna": file.add("anna", role="user", users=("20010001", "anna")),
        "ben": file.add("ben", role="user", users=("20020002",)),
        "carol": file.add("carol", role="user", users=("carol",)),
        "staff": file.add("staff", role="staff"),
        "admin": file.add("admin", role="admin"),
    }
    rules = Privacy(**{"anonymous": "pseudonyms", "look_up": False, "given": True, **privacy})
    engine = Engine.open(directory, Config(), Limits())
    gate = Gate(file)
    with server(
        directory, engine=engine, gate=gate, privacy=rules, site=WORDS, pages=pages
    ) as world:
        yield Served(world, tokens)


assert T1 - T0 == 2 * MINUTE_US
