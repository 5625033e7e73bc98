import re

from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.lab.slurm import node_list


def expanded(text: str) -> list[str]:
    names = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        prefix, _, ranges = part.partition("[")
        for one in ranges.rstrip("]").split(",") if ranges else [""]:
            low, _, high = one.partition("-")
            numbers = range(int(low), int(high or low) + 1) if low else []
            names += [f"{prefix}{n:0{len(low)}d}" for n in numbers] or [prefix]
    return names


@settings(deadline=None, max_examples=200)
@given(st.sets(st.builds(lambda r, c: f"r{r:02d}c{c:02d}", st.integers(1, 3), st.integers(1, 20)),
               min_size=1))  # fmt: skip
def test_expanding_gives_the_nodes_back(names):
    assert sorted(expanded(node_list(sorted(names)))) == sorted(names)
