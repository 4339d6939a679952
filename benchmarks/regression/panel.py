# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Seconds from an Arrow table of a panel to the table of coefficients, by sparqr.feols.

    PYTHONPATH=python python benchmarks/regression/panel.py ROWS [--runs 3] [--dummies] [--near] [--vcov CRV1]

Ten years a worker, 15% of whom move in a year, one firm for twenty workers, two covariates: the panel of
RegressionSpeed. ``--near``: movers go to one of the 16 next firms on either side of a ring, as in
``gen:panel`` (io.sparqr.matrix.gallery.WorkerPanel), so that fronts stay small; otherwise to any firm. ``--dummies``: a
coefficient with its error for every worker and firm in place of absorbed effects. Prints a line a run.
"""

import argparse
import time

import numpy as np
import pyarrow as pa

import sparqr

SEED = 20261123
YEARS = 10
MOVERS = 0.15
REACH = 16
TRUTH = {"age": 0.02, "tenure": 0.01}


def panel(rows, near):
    """Worker, firm, age, tenure and log_wage as a pyarrow.Table of rows // 10 workers."""
    rng = np.random.default_rng(SEED)
    workers = max(1, rows // YEARS)
    firms = max(2, workers // 20)
    firm = np.empty((workers, YEARS), dtype=np.int64)
    tenure = np.zeros((workers, YEARS))
    firm[:, 0] = rng.integers(firms, size=workers)
    for year in range(1, YEARS):
        moves = rng.random(workers) < MOVERS
        step = rng.integers(1, REACH + 1, size=workers) * rng.choice([-1, 1], size=workers)
        other = (firm[:, year - 1] + step) % firms if near else rng.integers(firms, size=workers)
        firm[:, year] = np.where(moves, other, firm[:, year - 1])
        tenure[:, year] = np.where(moves, 0, tenure[:, year - 1] + 1)
    tenure += rng.random(tenure.shape)
    age = 20 + rng.integers(30, size=(workers, 1)) + np.arange(YEARS) + rng.random(tenure.shape)
    wage = rng.normal(0, 0.5, (workers, 1)) + rng.normal(0, 0.3, firms)[firm]
    wage += TRUTH["age"] * age + TRUTH["tenure"] * tenure + rng.normal(0, 0.2, tenure.shape)
    worker = np.repeat(np.arange(workers), YEARS)
    columns = {"worker": worker, "firm": firm, "age": age, "tenure": tenure, "log_wage": wage}
    return pa.table({name: column.ravel() for name, column in columns.items()})


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("rows", type=int)
    words.add_argument("--runs", type=int, default=1)
    words.add_argument("--dummies", action="store_true")
    words.add_argument("--near", action="store_true")
    words.add_argument("--vcov", choices=["iid", "hetero", "CRV1"], default="iid")
    words.add_argument("--backend", default="auto")
    words.add_argument("--master", default="local[*]")
    words.add_argument("--memory", default="6g")
    args = words.parse_args()
    spark = sparqr.session(
        args.master, memory=args.memory, spark_ui_enabled=False, spark_log_level="ERROR"
    )
    data = panel(args.rows, args.near)
    formula = "log_wage ~ age + tenure" + (" + C(worker) + C(firm)" if args.dummies else " | worker + firm")
    vcov = {"CRV1": "worker"} if args.vcov == "CRV1" else args.vcov
    for run in range(args.runs):
        began = time.perf_counter()
        fit = sparqr.feols(formula, data, vcov, fixef_rm="none", backend=args.backend, progress=False)
        table = fit.tidy()
        seconds = time.perf_counter() - began
        told = fit.report["seconds"]
        parts = ", ".join(f"{name} {told[name]:.2f}" for name in ("pattern", "order", "factorize", "solve"))
        print(
            f"run {run + 1}: {data.num_rows:,} rows, {len(set(data['firm'].to_numpy())):,} firms, "
            f"{args.vcov} errors of {len(table):,} coefficients: Arrow to table {seconds:.2f} s "
            f"(of it {parts}; {fit.report['flops'] / 1e9:,.1f} Gflop, {fit.report['backend']})",
            flush=True,
        )
        for name, value in TRUTH.items():
            apart = abs(table["Estimate"][name] - value) / table["Std. Error"][name]
            assert apart < 5, (name, apart, SEED)
    spark.stop()


if __name__ == "__main__":
    main()
