# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A panel of workers and firms by sparqr.feols and by pyfixest's feols, in turn, from one pandas frame.

    PYTHONPATH=python python benchmarks/python/panel.py [--workers 100000] [--firms 5000] [--moves anywhere|next] [--runs 3]

Ten years a worker, of whom 15% move each year: to any firm, or to one of the three next. Two covariates, equal
variances. Prints a line a run: seconds and the first coefficient of each. pyfixest is left out where it is not
installed; where its iterations end without an answer, its message is printed.
"""

import argparse
import time

import numpy as np
import pandas as pd

import sparqr

SEED = 20261128
YEARS = 10
MOVE = 0.15
FORMULA = "y ~ x1 + x2 | worker + firm"


def panel(workers, firms, moves):
    """The frame."""
    rng = np.random.default_rng(SEED)
    firm = np.empty((workers, YEARS), dtype=np.int64)
    firm[:, 0] = rng.integers(0, firms, workers)
    for year in range(1, YEARS):
        to = rng.integers(0, firms, workers) if moves == "anywhere" else (firm[:, year - 1] + rng.integers(1, 4, workers)) % firms
        firm[:, year] = np.where(rng.random(workers) < MOVE, to, firm[:, year - 1])
    worker = np.repeat(np.arange(workers), YEARS)
    firm = firm.ravel()
    x1, x2 = rng.standard_normal((2, workers * YEARS))
    effects = rng.standard_normal(workers)[worker] + rng.standard_normal(firms)[firm]
    y = 0.5 * x1 - 0.25 * x2 + effects + rng.standard_normal(workers * YEARS)
    return pd.DataFrame({"y": y, "x1": x1, "x2": x2, "worker": worker, "firm": firm})


def timed(work):
    """Seconds, and what came of it."""
    begin = time.perf_counter()
    try:
        found = work()
    except (RuntimeError, ValueError) as error:
        found = error
    return time.perf_counter() - begin, found


def ours(data):
    """The first coefficient."""
    return float(sparqr.feols(FORMULA, data, vcov="iid", categorical=["worker", "firm"]).coef().iloc[0])


def theirs(data):
    """The first coefficient."""
    import pyfixest

    return float(pyfixest.feols(FORMULA, data, vcov="iid").coef().iloc[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=100_000)
    parser.add_argument("--firms", type=int, default=5000)
    parser.add_argument("--moves", choices=("anywhere", "next"), default="anywhere")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    data = panel(given.workers, given.firms, given.moves)
    print(f"{len(data)} rows, {given.workers} workers, {given.firms} firms, {given.moves}")
    for run in range(given.runs):
        for name, fit in (("sparqr", ours), ("pyfixest", theirs)):
            try:
                seconds, found = timed(lambda: fit(data))
            except ImportError:
                continue
            print(f"run {run + 1}: {name} {seconds:.2f} s, {found}", flush=True)


if __name__ == "__main__":
    main()
