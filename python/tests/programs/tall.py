# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""feols with very many rows, which Spark generates while reading, and a small driver:

    python -m tests.programs.tall [ROWS [MEMORY [MASTER]]]

10 million rows and 1 GB unless told otherwise. Prints the table, seconds and the heap's peak; fails if an
estimate is five standard errors away from the true coefficient. Not part of CI.
"""

import sys
import time

import sparqr
from tests.spark import builder

TRUTH = {"x1": 0.7, "x2": -0.2}


def noise(seed):
    """Uniform in [-1, 1), as a function of the row."""
    return f"(xxhash64(id, {seed}L) / 9223372036854775808D)"


def main(rows=10_000_000, memory="1g", master="local[2]"):
    made = builder(memory=memory).master(master).config("spark.default.parallelism", "8")
    made = made.config("spark.executor.memory", "2g")  # only used if MASTER is not local
    # runs long enough to benefit from the optimizing compiler
    spark = made.config("spark.driver.extraJavaOptions", "-XX:+UseParallelGC").getOrCreate()
    made = spark.range(0, rows, 1, 16).selectExpr(
        "id", "pmod(xxhash64(id, 1L), 2000L) AS worker", "pmod(xxhash64(id, 2L), 50L) AS firm"
    )
    made = made.selectExpr("*", f"{noise(3)} + worker / 2000 AS x1", f"{noise(4)} - firm / 50 AS x2")
    made = made.selectExpr("*", f"0.7 * x1 - 0.2 * x2 + sin(worker) + cos(firm) + {noise(5)} * (1 + abs(x1)) AS y")
    began = time.monotonic()
    fit = sparqr.feols("y ~ x1 + x2 | worker + firm", made, vcov={"CRV1": "worker"})
    seconds = time.monotonic() - began
    print(fit)
    pools = spark._jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    heap = [p for p in pools if p.getType().toString() == "Heap memory"]
    peak = sum(p.getPeakUsage().getUsed() for p in heap) >> 20
    most = spark._jvm.java.lang.Runtime.getRuntime().maxMemory() >> 20
    print(f"{rows:,} rows in {seconds:.1f} s; the heap's pools had {peak:,} MB at their peaks, of {most:,} MB")
    for name, value in TRUTH.items():
        assert abs(fit.coef()[name] - value) < 5 * fit.se()[name], (name, fit.coef()[name], fit.se()[name])


if __name__ == "__main__":
    main(*(int(a) if a.isdigit() else a for a in sys.argv[1:]))
