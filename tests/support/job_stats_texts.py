"""Hypothesis strategies for job_stats texts in the spacings that Lustre has used."""

from hypothesis import strategies as st

MAX = 2**64 - 1
numbers = st.one_of(
    st.integers(0, 20), st.integers(0, MAX), st.sampled_from([10**n for n in range(20)])
)
# Ids without a newline, and not in quotes: how those are spelled is a matter of their own.
plain_ids = st.binary(max_size=31).map(lambda b: b.translate(None, b'\n"').rstrip(b" "))
names = st.from_regex(r"[a-z_]{1,20}", fullmatch=True)


@st.composite
def counter_lines(draw):
    name = draw(names) + ":"
    samples = draw(st.one_of(st.just(0), numbers))
    unit = draw(st.sampled_from(["reqs", "usecs", "bytes", "pages"]))
    text = f"  {name:<16} {{ samples: {samples:>11}, unit: {unit:>5}"
    if draw(st.booleans()):
        blank = draw(st.sampled_from(["", " "]))
        low, high, total = (draw(numbers) for _ in range(3))
        text += f", min:{blank}{low:>8}, max:{blank}{high:>8}, sum:{blank}{total:>16}"
        if draw(st.booleans()):
            text += f", sumsq:{blank}{draw(numbers):>18}"
            if draw(st.booleans()):
                text += f", hist: {{ {', '.join(draw(bins()))} }}"
    return text + " }\n"


@st.composite
def bins(draw):
    powers = draw(st.lists(st.integers(0, 35), unique=True, max_size=6))
    return [
        f"{1 << p % 10}{'-KMG'[p // 10].strip('-')}: {draw(st.integers(1, MAX))}"
        for p in sorted(powers)
    ]


@st.composite
def time_lines(draw):
    seconds, nanos = draw(st.integers(0, 2 * 10**9)), draw(st.integers(0, 10**9 - 1))
    form = draw(st.sampled_from(["whole", "boot", "indented"]))
    if form == "whole":
        return f"  {'snapshot_time:':<16} {seconds}\n"
    both = (("snapshot_time", seconds), ("start_time", seconds // 2), ("elapsed_time", 1))
    return "".join(
        ("  " + (n + ":").ljust(16) if form == "indented" else n.ljust(16) + ":")
        + f" {s}.{nanos:09d} secs.nsecs\n"
        for n, s in both
    )


@st.composite
def entries(draw):
    raw = draw(plain_ids)
    lines = draw(st.lists(counter_lines(), max_size=6, unique_by=lambda t: t.split(":")[0]))
    return b"- job_id:          " + raw + b"\n" + (draw(time_lines()) + "".join(lines)).encode()


@st.composite
def texts(draw):
    """One or more targets with their entries, headers sometimes missing or doubled."""
    out = b""
    for index in range(draw(st.integers(1, 3))):
        out += b"obdfilter.scratch-OST%04x.job_stats=\n" % index
        out += b"job_stats:\n" * draw(st.integers(0, 2))
        out += b"".join(draw(st.lists(entries(), max_size=4)))
    return out
