"""Runs scenarios side by side, each in a process, and adds their verdicts up."""

import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from benchmarks.evaluation import ways
from benchmarks.evaluation.judge import Verdict, judge
from pfscope.lab.scenarios import SCENARIOS, story


def run(task):
    """Run one scenario; return the verdict."""
    told = story(task.scenario, task.preset, task.seed, task.hours)
    return judge(task.scenario, task.preset, told, getattr(ways, task.way)(told))


def run_all(every, workers, told=lambda _task, _seconds: None):
    """Run tasks side by side; return verdicts by scenario and preset, in order."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        begin = time.monotonic()
        waiting = {pool.submit(run, task): task for task in every}
        verdicts = {}
        for done in as_completed(waiting):
            task, verdict = waiting[done], done.result()
            key = task.preset, task.scenario
            verdicts[key] = verdicts[key] + verdict if key in verdicts else verdict
            told(task, time.monotonic() - begin)
    order = {name: n for n, name in enumerate(SCENARIOS)}
    return [verdicts[key] for key in sorted(verdicts, key=lambda k: (k[0], order[k[1]]))]


def overall(verdicts):
    """Return the verdicts added up, for each preset and for all."""
    presets = sorted({verdict.preset for verdict in verdicts})
    sums = [sum((v for v in verdicts if v.preset == p), Verdict("all", p)) for p in presets]
    return [*sums, sum(verdicts, Verdict("all", "all"))]
