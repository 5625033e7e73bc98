from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from pfscope.errors import InputError
from pfscope.lab.calibration import BUILT_IN, DAY_S, from_csv
from pfscope.lab.site import make_site
from pfscope.lab.workload import Workload

BEGIN_S = 1_666_828_800.0
SHARED = (
    Path(__file__).resolve().parents[2].parent / "shared/data/puhti-2022-10-27-totals.csv.gz"
)  # fmt: skip


@pytest.fixture(scope="module")
def days():
    rng = np.random.default_rng(5)
    site = make_site("puhti", rng)
    workload = Workload(site, BEGIN_S, rng)
    return site, workload, [workload.day(0), workload.day(1)]


def test_no_node_has_more_jobs_than_its_pool_allows(days):
    site, _, (today, tomorrow) = days
    most = {"M": 3, "M-IO": 4, "M-FMI": 1, "L": 2, "L-IO": 4, "XL": 2, "BM": 2, "GPU": 2}
    moments = defaultdict(list)
    for job in [*today, *tomorrow]:
        for node in job.nodes:
            moments[node] += [(job.start_s, 1), (job.end_s, -1)]
    for node, changes in moments.items():
        now = 0
        for _, change in sorted(changes):
            now += change
            assert now <= most[site.compute[node].node_type]


def test_jobs_keep_to_their_partition(days):
    site, _, (today, _) = days
    for job in today:
        types = {site.compute[node].node_type for node in job.nodes}
        assert (types == {"GPU"}) == (job.partition in ("gpu", "gputest"))
        assert 0 < job.end_s - job.start_s <= job.limit_s
        assert job.submit_s <= job.start_s
        assert (job.state == "TIMEOUT") == (job.end_s - job.start_s >= job.limit_s)


def test_ids_are_unique_and_tasks_belong_to_one_array(days):
    _, _, (today, tomorrow) = days
    jobs = [*today, *tomorrow]
    assert len({job.raw_id for job in jobs}) == len({job.slurm_id for job in jobs}) == len(jobs)
    arrays = defaultdict(list)
    for job in jobs:
        if job.array_id is not None:
            arrays[job.array_id].append(job)
    assert len(arrays) > 100
    for tasks in arrays.values():
        assert len({(task.user, task.executable) for task in tasks}) == 1
        assert len({task.array_task for task in tasks}) == len(tasks)


def test_days_follow_each_other(days):
    _, _, (today, tomorrow) = days
    assert all(job.start_s < BEGIN_S + DAY_S for job in today)
    assert all(BEGIN_S + DAY_S <= job.start_s < BEGIN_S + 2 * DAY_S for job in tomorrow)
    running = [job for job in today if job.start_s < BEGIN_S < job.end_s]
    assert len({node for job in running for node in job.nodes}) > 900


def test_few_users_run_and_load_much(days):
    _, workload, (today, _) = days
    jobs = Counter(job.user for job in today)
    most = sum(count for _, count in jobs.most_common(30))
    assert len(jobs) > 250
    assert most > 0.25 * len(today)
    weight = np.sort(workload.user_weight)[::-1]
    assert weight[:15].sum() > 0.3 * weight.sum()


def test_built_in_figures_are_those_of_the_shared_table():
    if not SHARED.exists():
        pytest.skip("the table of Puhti's rates is not there")
    measured = from_csv(SHARED)
    for mine, theirs in zip(
        (*BUILT_IN.mdt, BUILT_IN.ost), (*measured.mdt, measured.ost), strict=True
    ):
        assert mine == pytest.approx(theirs, rel=0.03)
    assert measured.hours == BUILT_IN.hours


def test_a_table_of_rates_gives_medians_and_the_pattern_of_the_day(tmp_path):
    rows = ["target,operation,minute,rate"]
    for minute in range(0, 1440, 60):
        rate = 300.0 if minute >= 720 else 100.0
        rows += [f"MDT0000,{op},{minute},{rate}" for op in ("open", "close", "getattr")]
        rows += [f"OST000{n},read_bytes,{minute},{rate * 2**20 * (n + 1)}" for n in (0, 1)]
    path = tmp_path / "rates.csv"
    path.write_text("\n".join(rows))
    calibration = from_csv(path)
    assert calibration.mdt[0]["open"] == pytest.approx(200.0)
    assert calibration.ost["read_bytes"] == pytest.approx(300.0 * 2**20)
    assert calibration.hours["mdt"][0] < 1.0 < calibration.hours["mdt"][23]
    day = calibration.busy_seconds("mdt", np.array([0.0, DAY_S / 2, DAY_S]))
    assert day[2] - day[0] == pytest.approx(DAY_S)
    assert day[2] - day[1] > day[1] - day[0]


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "target,operation,minute,rate\nX,open,0,1\n"])
def test_a_useless_table_is_refused(tmp_path, text):
    path = tmp_path / "rates.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=r"rates\.csv"):
        from_csv(path)
