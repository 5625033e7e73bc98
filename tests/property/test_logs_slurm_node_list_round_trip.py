"""What the laboratory compresses as Slurm does, the reader of node lists gives back."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.errors import InputError
from pfscope.lab.slurm import node_list
from pfscope.logs.node_list import LIMIT, expand

NUMBERED = st.builds(
    lambda prefix, number, width: f"{prefix}{number:0{width}d}",
    st.sampled_from(["r01c", "r02c", "n", "gpu-"]),
    st.integers(0, 1200),
    st.integers(1, 5),
)
NAMES = st.sets(NUMBERED | st.sampled_from(["login", "mds-a"]), min_size=1)


@settings(deadline=None, max_examples=200)
@given(NAMES)
def test_expanding_gives_the_nodes_back(names):
    assert sorted(expand(node_list(sorted(names)))) == sorted(names)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="n01-9[],. \n\u0661") | st.text())
def test_any_text_is_expanded_or_refused(text):
    try:
        names = expand(text)
    except InputError:
        return
    assert len(names) <= LIMIT
    assert all(name and not set(name) & set("[], ") for name in names)
