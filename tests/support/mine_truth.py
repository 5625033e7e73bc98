"""The statistics of a synthetic month beside what is known of it, on any engine."""

from pfscope.mine import statistics


def assert_statistics(miner, known):
    """Hold every statistic against its known answer."""
    totals = statistics.totals(miner)
    assert (totals["runs"], totals["files"]) == (known["runs"], known["files"])
    assert statistics.stripes(miner) == known["stripes"]
    for word in ("read", "written"):
        top = statistics.top(miner, f"bytes_{word}").to_pylist()
        expected = known[f"top_{word}"]
        assert {row["executable"]: row["bytes"] for row in top} == expected["applications"]
        assert abs(top[0]["share"] - top[0]["bytes"] / expected["all"]) < 1e-12
    assert statistics.sequential(miner)["consecutive"].to_pylist() == known["sequential"]
    assert statistics.read_ratio(miner)["bytes_read"].to_pylist() == known["read_ratio"]
    sharing = statistics.sharing(miner).to_pylist()
    assert {row["pattern"]: row["runs"] for row in sharing} == known["sharing"]
    assert sum(statistics.sharing_ratio(miner)["runs"].to_pylist()) == sum(
        known["sharing"].values()
    )
    layers = [
        {name: n for name, n in row.items() if name != "processes"}
        for row in statistics.middleware(miner).to_pylist()
    ]
    assert layers == known["middleware"]
    coverage = statistics.coverage(miner).to_pylist()
    assert {row["what"]: [row["logs"], row["all"]] for row in coverage} == known["coverage"]
    for operation, word in (("read", "read"), ("write", "written")):
        assert statistics.low_bandwidth(miner, operation).num_rows == known[f"low_{word}"]
