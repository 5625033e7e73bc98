from collections import Counter
from datetime import UTC, datetime

import numpy as np
import pytest

from pfscope.lab.archetypes import OPERATIONS
from pfscope.lab.cluster import Cluster, Options

MIDNIGHT = datetime(2022, 10, 27, tzinfo=UTC)


def rates_by_target(cluster, kind, hours, interval_s):
    """Return requests per second from compute nodes, [targets, operations]."""
    sums = np.zeros((len(cluster.site.targets(kind)), len(OPERATIONS[kind])))
    for observation in cluster.observe(MIDNIGHT, hours, interval_s):
        usage = observation.usage[kind]
        compute = np.array([o.node[:1] == "r" for o in cluster.world.staging.origins.all])
        mine = usage.take(compute[usage.origin])
        np.add.at(sums, (mine.target, mine.operation), mine.increment.astype(float))
    return sums / (hours * 3600)


@pytest.mark.parametrize("kind", ["mdt", "ost"])
def test_a_day_of_compute_nodes_has_the_normal_rates(kind):
    cluster = Cluster(Options(dialects=("2.15",)))
    rates = rates_by_target(cluster, kind, 24.0, 1200.0)
    tuning = cluster.world.staging.tuning
    if kind == "ost":
        # Load is shared unevenly: the figures are those of a mean OST.
        rates = np.broadcast_to(rates.mean(axis=0), rates.shape)
    compared = 0
    for target in range(len(rates)):
        for operation, normal in tuning.normal(kind, target).items():
            # What happens less than every ten seconds is mostly chance; entries of system users
            # that are visible on so small a site need more than their share of statfs.
            if normal > 0.1 and operation != "statfs":
                rate = rates[target, OPERATIONS[kind].index(operation)]
                assert rate == pytest.approx(normal, rel=0.12), (target, operation)
                compared += 1
    assert compared > 8


def test_few_users_make_most_requests_and_hundreds_make_few():
    cluster = Cluster(Options(preset="puhti"))
    by_user: Counter[str] = Counter()
    for observation in cluster.observe(MIDNIGHT, 0.5):
        usage = observation.usage["mdt"]
        origins = cluster.world.staging.origins.all
        for number, increment in zip(usage.origin.tolist(), usage.increment.tolist(), strict=True):
            by_user[origins[number].user] += increment
    heavy = sum(count for _, count in by_user.most_common(10))
    assert len(by_user) > 200
    assert heavy > 0.6 * by_user.total()
    assert np.median(list(by_user.values())) < 0.001 * by_user.total()


def test_one_storage_area_is_busy_and_others_hardly_used():
    cluster = Cluster(Options(preset="puhti"))
    requests = np.zeros(4)
    for observation in cluster.observe(MIDNIGHT, 0.3):
        usage = observation.usage["mdt"]
        requests += np.bincount(usage.target, usage.increment, 4)
    assert requests[0] > requests[1] > 50 * requests[2]
    assert requests[3] > 0
