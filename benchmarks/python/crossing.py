# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""How long a matrix takes from Python into Spark's rows, and where the time of sparqr.lstsq goes.

    PYTHONPATH=python python benchmarks/python/crossing.py [--rows 1000000] [--columns 50000] [--frames | --cold]

A row has three entries, at random within sixty columns that move along with the rows, so that R stays small
and the way in and out can be seen.
``--frames`` measures ``createDataFrame`` of vectors too, on a hundredth of the rows. ``--cold`` measures the first
crossing of a fresh process alone, once its session is there, and prints a line. Otherwise prints JSON.
"""

import argparse
import json
import pathlib
import tempfile
import time

import numpy as np
import scipy.sparse as sp
from pyspark.sql import SparkSession

import sparqr
from sparqr._arrays import matrix_of
from sparqr._rows import Problem, Rows

SEED = 20261123
ENTRIES = 3
WINDOW = 60


def problem(m, n):
    """A, m x n with three entries a row, and b."""
    rng = np.random.default_rng(SEED)
    first = np.arange(m) * (n - WINDOW) // (m - 1)
    offsets = np.sort(rng.permuted(np.tile(np.arange(WINDOW, dtype=np.int8), (m, 1)), axis=1)[:, :ENTRIES])
    columns = first[:, None] + offsets
    columns[-1, -1] = n - 1
    indptr = np.arange(0, ENTRIES * m + 1, ENTRIES)
    A = sp.csr_array((rng.uniform(0.5, 1.5, ENTRIES * m), columns.ravel(), indptr), shape=(m, n))
    return A, A @ rng.standard_normal(n) + 0.1 * rng.standard_normal(m)


def timed(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def crossing(spark, A, b):
    """Seconds of the check, of the files and of the JVM's pass over all rows."""
    check, matrix = timed(lambda: matrix_of(A))
    told = Problem(matrix, b.reshape(-1, 1), False, None)
    write, rows = timed(lambda: Rows(spark, told))
    try:
        read, count = timed(rows.jrdd.count)
    finally:
        rows.close()
    assert count == A.shape[0]
    return {"check": check, "write": write, "rows": read, "all": check + write + read}


def vectors(spark, A, b):
    """Seconds of createDataFrame for a hundredth of the rows, times a hundred."""
    from pyspark.ml.linalg import Vectors

    part = A[: A.shape[0] // 100]

    def make():
        ends = zip(part.indptr, part.indptr[1:])
        made = (Vectors.sparse(A.shape[1], part.indices[i:j], part.data[i:j]) for i, j in ends)
        return spark.createDataFrame([(float(y), v) for y, v in zip(b, made)], ["label", "features"]).count()

    return 100 * timed(make)[0]


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--rows", type=int, default=1_000_000)
    words.add_argument("--columns", type=int, default=50_000)
    words.add_argument("--runs", type=int, default=3)
    words.add_argument("--memory", default="6g")
    words.add_argument("--frames", action="store_true")
    words.add_argument("--no-solve", action="store_true")
    words.add_argument("--cold", action="store_true")
    args = words.parse_args()
    home = pathlib.Path(__file__).resolve().parents[2]
    jar = next((home / "distribution" / "target").glob("sparqr-spark-*-all.jar"))
    with tempfile.TemporaryDirectory() as folder:
        spark = (
            SparkSession.builder.master("local[*]")
            .config("spark.jars", str(jar))
            .config("spark.driver.memory", args.memory)
            .config("spark.local.dir", folder)
            .config("spark.ui.enabled", "false")
            .config("spark.log.level", "ERROR")
            .getOrCreate()
        )
        try:
            print(first(spark, args) if args.cold else json.dumps(measured(spark, args), indent=1))
        finally:
            spark.stop()


def first(spark, args):
    A, b = problem(args.rows, args.columns)
    told = crossing(spark, A, b)
    return f"{A.shape[0]:,} x {A.shape[1]:,}, {A.nnz:,} nonzeros, cold: {told['all']:.2f} s (" + ", ".join(
        f"{part} {told[part]:.2f}" for part in ("check", "write", "rows")
    ) + ")"


def measured(spark, args):
    A, b = problem(args.rows, args.columns)
    told = {"rows": A.shape[0], "columns": A.shape[1], "nonzeros": A.nnz, "seed": SEED}
    told["crossing"] = [crossing(spark, A, b) for _ in range(args.runs)]
    told["crossing_csc"] = crossing(spark, A.tocsc(), b)
    told["from_scipy"] = []
    for _ in range(args.runs):
        made, frame = timed(lambda: sparqr.from_scipy(A, b))
        told["from_scipy"].append({"make": made, "read": timed(lambda: frame.agg({"label": "sum"}).collect())[0]})
    if args.frames:
        told["createDataFrame_extrapolated"] = vectors(spark, A, b)
    if not args.no_solve:
        told["lstsq"] = []
        for _ in range(args.runs):
            seconds, result = timed(lambda: sparqr.lstsq(A, b))
            told["lstsq"].append({"all": seconds, "java": result.report["seconds"]})
        gradient = np.linalg.norm(A.T @ (b - A @ result.x))
        told["normal_residual"] = gradient / (sp.linalg.norm(A) * result.residual_norm)
        told["rank"] = result.rank
    return told


if __name__ == "__main__":
    main()
