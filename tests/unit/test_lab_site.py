from collections import Counter

import numpy as np
import pytest

from pfscope.errors import UsageError
from pfscope.lab.site import expand, make_site, parse_preset


def site(preset):
    return make_site(preset, np.random.default_rng(1))


def test_puhti_has_the_servers_and_targets_of_the_thesis():
    puhti = site("puhti")
    assert [s.name for s in puhti.servers] == ["mds1", "mds2", *(f"oss{i}" for i in range(1, 9))]
    assert puhti.mdts[-1] == "scratch-MDT0003"
    assert [puhti.osts[t] for t in puhti.servers[4].targets] == [
        "scratch-OST0006", "scratch-OST0007", "scratch-OST0008",
    ]  # fmt: skip
    assert puhti.osts[-1] == "scratch-OST0017"


def test_puhti_has_the_nodes_of_the_thesis():
    puhti = site("puhti")
    names = {node.name for node in puhti.compute}
    assert {"r01c01", "r04g08", "r07c64", "r08m06", "r12c72", "r18c48", "r18g08"} <= names
    types = Counter(node.node_type for node in puhti.compute)
    assert types == {"M": 480, "M-IO": 48, "M-FMI": 240, "L": 92, "L-IO": 40, "XL": 12, "BM": 6,
                     "GPU": 80}  # fmt: skip
    assert puhti.login[0].name == "puhti-login11"
    assert len(puhti.utility) == 3
    assert len({user.uid for user in puhti.users}) == 300
    assert min(user.uid for user in puhti.users) >= 1000


@pytest.mark.parametrize(("preset", "times"), [("mini", 1), ("mini-x3", 3), ("mini-x12", 12)])
def test_multiples_multiply_everything(preset, times):
    one, many = site("mini"), site(preset)
    for part in ("servers", "mdts", "osts", "compute", "users", "login"):
        assert len(getattr(many, part)) == times * len(getattr(one, part))
    assert len({node.name for node in many.compute}) == len(many.compute)
    assert len({node.nid for node in (*many.compute, *many.login, *many.utility)}) == len(
        many.compute
    ) + len(many.login) + len(many.utility)
    assert many.scale == pytest.approx(times * one.scale)


def test_every_target_has_one_server():
    puhti = site("puhti-x2")
    assert [puhti.servers[s].name for s in puhti.server_of("mdt")][:4] == ["mds1"] * 2 + [
        "mds2"
    ] * 2
    assert len(set(puhti.server_of("ost"))) == 16


@pytest.mark.parametrize("preset", ["", "big", "puhti-x0", "puhti-4", "puhti-x100", "PUHTI"])
def test_unknown_presets_are_refused_with_the_known_ones(preset):
    with pytest.raises(UsageError, match="mini, puhti"):
        parse_preset(preset)


def test_ranges_expand_the_last_one_fastest():
    assert expand("r{01-02}c{9-10}") == ["r01c9", "r01c10", "r02c9", "r02c10"]
    assert expand("plain") == ["plain"]
