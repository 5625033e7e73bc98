"""The hardware and the people of a simulated site: servers, targets, nodes, partitions, users.

A site depends on the preset and the seed alone. Names follow the Aalto/CSC thesis (tables 2 to 5).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, product

import numpy as np

from pfscope.errors import UsageError
from pfscope.lab.dialects import Kind

FILE_SYSTEM = "scratch"
DOMAIN = "bullx"
PUHTI_COMPUTE_NODES = 998
"""The names in the thesis' table 4; figures measured on Puhti are scaled by it."""


@dataclass(frozen=True, slots=True)
class Server:
    """One MDS or OSS and the targets that it normally serves (indices within their kind)."""

    name: str
    kind: Kind
    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """One Lustre client."""

    name: str
    node_type: str
    nid: str


@dataclass(frozen=True, slots=True)
class User:
    """One person, or a system account when `uid` is below 1000."""

    uid: int
    name: str
    project: str
    gid: int


@dataclass(frozen=True, slots=True)
class Pool:
    """Nodes of one type that a partition fills with jobs of one size."""

    partition: str
    node_type: str
    node_share: float
    """Which part of the nodes of this type."""
    nodes_per_job: int
    jobs_per_node: int
    mean_hours: float
    limit_hours: float


@dataclass(frozen=True, slots=True)
class Site:
    """All that stands and all who work there."""

    preset: str
    servers: tuple[Server, ...]
    mdts: tuple[str, ...]
    osts: tuple[str, ...]
    mdt_roles: int
    """MDT i serves the storage area i modulo this: the first ones are busy, the last ones idle."""
    scale: float
    """How active the site is in comparison with Puhti."""
    compute: tuple[Node, ...]
    login: tuple[Node, ...]
    utility: tuple[Node, ...]
    users: tuple[User, ...]
    system_users: tuple[User, ...]
    pools: tuple[Pool, ...]

    def targets(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of all MDTs or of all OSTs."""
        return self.mdts if kind == "mdt" else self.osts

    def server_of(self, kind: Kind) -> list[int]:
        """Return, for each target of a kind, the index of the server that normally serves it."""
        owner = {t: s for s, server in enumerate(self.servers) if server.kind == kind
                 for t in server.targets}  # fmt: skip
        return [owner[t] for t in range(len(self.targets(kind)))]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a preset asks for before it is multiplied."""

    servers: tuple[int, int]
    """How many MDS and OSS."""
    targets_each: tuple[int, int]
    users: int
    liveliness: float
    """Activity for each node in comparison with Puhti."""
    racks: tuple[str, ...]
    """Patterns of node names; the letter after the number tells the kind of node."""
    node_types: tuple[tuple[str, str, int], ...]
    """(letter, node type, how many), in the order of the names."""
    login: tuple[str, ...]
    utility: tuple[str, ...]


_PUHTI = _Plan(
    servers=(2, 8),
    targets_each=(2, 3),
    users=300,
    liveliness=1.0,
    racks=(
        "r{01-04}c{01-48}", "r{01-04}g{01-08}", "r{05-07}c{01-64}", "r{08-08}m{01-06}",
        "r{09-10}c{01-48}", "r{11-12}c{01-72}", "r{13-18}c{01-48}", "r{13-18}g{01-08}",
    ),
    node_types=(
        ("c", "M", 480), ("c", "M-IO", 48), ("c", "L", 92), ("c", "L-IO", 40), ("c", "XL", 12),
        ("c", "M-FMI", 240), ("g", "GPU", 80), ("m", "BM", 6),
    ),
    login=("puhti-login{11-16}", "puhti-fmi{11-12}"),
    utility=("puhti-ood1-production", "puhti-ood2-testing", "puhti-ood2-production"),
)  # fmt: skip
_MINI = _Plan(
    servers=(1, 2),
    targets_each=(2, 2),
    users=12,
    liveliness=4.0,
    racks=("r{01-01}c{01-16}", "r{01-01}g{01-04}"),
    node_types=(("c", "M", 12), ("c", "M-IO", 2), ("c", "L", 2), ("g", "GPU", 4)),
    login=("mini-login{11-12}",),
    utility=("mini-ood1-production",),
)
PRESETS = {"mini": _MINI, "puhti": _PUHTI}

_POOLS = (
    Pool("test", "M", 0.01, 1, 2, 0.1, 0.25),
    Pool("small", "M", 0.38, 1, 3, 2.5, 72),
    Pool("small", "M", 0.14, 1, 1, 4.0, 72),
    Pool("large", "M", 0.15, 4, 1, 5.0, 72),
    Pool("large", "M", 0.17, 8, 1, 7.0, 72),
    Pool("large", "M", 0.15, 18, 1, 9.0, 72),
    Pool("interactive", "M-IO", 0.5, 1, 4, 1.5, 168),
    Pool("small", "M-IO", 0.5, 1, 2, 2.0, 72),
    Pool("longrun", "L", 0.6, 1, 2, 30.0, 336),
    Pool("small", "L", 0.4, 1, 2, 3.0, 72),
    Pool("interactive", "L-IO", 0.3, 1, 4, 1.5, 168),
    Pool("small", "L-IO", 0.7, 1, 2, 3.0, 72),
    Pool("hugemem", "XL", 1.0, 1, 2, 6.0, 72),
    Pool("hugemem_longrun", "BM", 0.5, 1, 1, 40.0, 336),
    Pool("hugemem", "BM", 0.5, 1, 2, 6.0, 72),
    Pool("fmitest", "M-FMI", 0.02, 2, 1, 0.3, 1),
    Pool("fmi", "M-FMI", 0.35, 4, 1, 1.0, 12),
    Pool("fmi", "M-FMI", 0.63, 20, 1, 2.0, 12),
    Pool("gputest", "GPU", 0.03, 1, 2, 0.1, 0.25),
    Pool("gpu", "GPU", 0.72, 1, 2, 8.0, 72),
    Pool("gpu", "GPU", 0.25, 2, 1, 10.0, 72),
)


def make_site(preset: str, rng: np.random.Generator) -> Site:
    """Return the site of a preset such as `mini`, `puhti` or `puhti-x4`."""
    name, times = parse_preset(preset)
    plan = PRESETS[name]
    compute = _compute_nodes(plan, times)
    present = {node.node_type for node in compute}
    return Site(
        preset=preset,
        servers=tuple(_servers(plan, times)),
        mdts=_target_names("MDT", plan.servers[0] * plan.targets_each[0] * times),
        osts=_target_names("OST", plan.servers[1] * plan.targets_each[1] * times),
        mdt_roles=plan.servers[0] * plan.targets_each[0],
        scale=plan.liveliness * len(compute) / PUHTI_COMPUTE_NODES,
        compute=tuple(compute),
        login=_other_nodes(plan.login, "login", times),
        utility=_other_nodes(plan.utility, "utility", times),
        users=tuple(_users(plan.users * times, rng)),
        system_users=(User(0, "root", "root", 0), User(450, "slurm", "slurm", 450)),
        pools=tuple(pool for pool in _POOLS if pool.node_type in present),
    )


def parse_preset(preset: str) -> tuple[str, int]:
    """Split `puhti-x4` into its name and its multiple."""
    found = re.fullmatch(r"([a-z]+)(?:-x([1-9][0-9]?))?", preset)
    if found is None or found[1] not in PRESETS:
        raise UsageError(f"no preset {preset!r}: use {', '.join(PRESETS)}, or a multiple: mini-x3")
    return found[1], int(found[2] or 1)


def _target_names(kind: str, count: int) -> tuple[str, ...]:
    return tuple(f"{FILE_SYSTEM}-{kind}{index:04x}" for index in range(count))


def _servers(plan: _Plan, times: int) -> Iterator[Server]:
    kinds: tuple[Kind, Kind] = ("mdt", "ost")
    for kind, prefix, servers, each in zip(
        kinds, ("mds", "oss"), plan.servers, plan.targets_each, strict=True
    ):
        for index in range(servers * times):
            targets = tuple(range(index * each, (index + 1) * each))
            yield Server(f"{prefix}{index + 1}", kind, targets)


def _compute_nodes(plan: _Plan, times: int) -> list[Node]:
    names = [name for pattern in plan.racks for name in expand(pattern)]
    racks = len({name[:3] for name in names})
    nodes: list[Node] = []
    for copy in range(times):
        types = {letter: _types(plan, letter) for letter, _, _ in plan.node_types}
        for name in names:
            index = len(nodes)
            nid = f"10.{1 + index // 60000}.{index // 240 % 250}.{1 + index % 240}@o2ib"
            nodes.append(Node(_shift_rack(name, copy * racks), next(types[name[3]]), nid))
    return nodes


def _types(plan: _Plan, letter: str) -> Iterator[str]:
    return chain.from_iterable([t] * n for rack, t, n in plan.node_types if rack == letter)


def _shift_rack(name: str, by: int) -> str:
    return re.sub(r"^r(\d+)", lambda m: f"r{int(m[1]) + by:02d}", name)


def _other_nodes(patterns: Iterable[str], node_type: str, times: int) -> tuple[Node, ...]:
    names = [n for pattern in patterns for n in expand(pattern)]
    if times > 1:
        names = [f"{n}{chr(97 + copy)}" for copy in range(min(times, 26)) for n in names]
    net = {"login": 1, "utility": 2}[node_type]
    return tuple(Node(n, node_type, f"10.0.{net}.{i + 1}@o2ib") for i, n in enumerate(names))


def _users(count: int, rng: np.random.Generator) -> Iterator[User]:
    uids = rng.choice(9_000_000, size=count, replace=False) + 10_000_000
    projects = max(3, count * 2 // 3)
    for index, uid in enumerate(uids.tolist()):
        project = int(rng.integers(projects))
        yield User(uid, f"user{index + 1:04d}", f"project_{2000001 + project}", 50001 + project)


def expand(pattern: str) -> list[str]:
    """Expand `r{01-02}c{1-3}` to six names, the last range fastest."""
    parts = re.split(r"\{(\d+)-(\d+)\}", pattern)
    ranges = [
        [f"{n:0{len(low)}d}" for n in range(int(low), int(high) + 1)]
        for low, high in zip(parts[1::3], parts[2::3], strict=True)
    ]
    fixed = parts[::3]
    return [
        fixed[0] + "".join(r + f for r, f in zip(choice, fixed[1:], strict=True))
        for choice in product(*ranges)
    ]
