# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""First steps of a user after pip install: run in an environment of the wheel and its requirements only."""

import importlib.metadata
import os
import pathlib
import random
import sys
import warnings
import zipfile

import sparqr

PYSPARK = sys.argv[1]
SEED = 17


def check(true, what):
    if not true:
        sys.exit(f"installed.py: {what}")


def check_package():
    package = pathlib.Path(sparqr.__file__).parent
    site = pathlib.Path(sys.prefix).resolve()
    check(site in package.resolve().parents, f"sparqr is {package}, not in {site}")
    check(pathlib.Path(sparqr.jar()).parent == package / "jars", f"the jar is {sparqr.jar()}")
    check((package / "py.typed").is_file(), "no py.typed")
    said = importlib.metadata.metadata("sparqr")
    check(said["Version"] == sparqr.__version__, f"version {said['Version']}")
    check(said["Requires-Python"] == ">=3.10", f"for Python {said['Requires-Python']}")
    check(importlib.metadata.version("pyspark") == PYSPARK, "another PySpark")


def check_kernels():
    """A release contains kernels of every chip, the gate's build of one; KernelImageTest checks their contents."""
    with zipfile.ZipFile(sparqr.jar()) as jar:
        names = jar.namelist()
    chips = os.environ.get("SPARQR_KERNELS") or "sm_80 sm_90 sm_100"
    each = {f"{chip}.cubin" for chip in chips.split()} | {"compute_100.ptx"}
    for part in "rounds", "several", "sums", "solves", "dense":
        start = f"io/sparqr/backend/cuda/{part}."
        found = {name.removeprefix(start) for name in names if name.startswith(start)}
        check(found in ({"fatbin"}, each), f"kernels of {part}: {found}")


def check_jvm(spark):
    """Our classes come from the jar in the wheel; the heap is half of the memory."""
    jvm = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    solver = jvm.java.lang.Class.forName("io.sparqr.spark.GpuSparseQR", True, loader)
    where = solver.getProtectionDomain().getCodeSource().getLocation().getPath()
    check(pathlib.Path(where) == pathlib.Path(sparqr.jar()), f"classes are from {where}")
    from sparqr._session import _machine_memory

    heap = int(spark.conf.get("spark.driver.memory").removesuffix("m"))
    check(heap == _machine_memory() // 2 >> 20, f"a heap of {heap} MB")
    most = jvm.java.lang.Runtime.getRuntime().maxMemory() / 2**20
    check(0.85 * heap < most <= heap, f"a heap of {most} MB, not {heap}")


def check_answers(spark):
    """A x = b for a random A of 300 x 20, compared with numpy."""
    import numpy
    from pyspark.ml.linalg import Vectors

    from sparqr.ml import SparseQRRegression

    random.seed(SEED)
    rows = [{j: random.gauss(0, 1) for j in random.sample(range(20), 4)} for _ in range(300)]
    A = numpy.zeros((300, 20))
    for i, row in enumerate(rows):
        A[i, list(row)] = list(row.values())
    b = A @ numpy.arange(20) + numpy.array([random.gauss(0, 1) for _ in rows]) + 3
    data = [(float(y), Vectors.sparse(20, row)) for y, row in zip(b, rows)]
    df = spark.createDataFrame(data, ["label", "features"])

    x = numpy.linalg.lstsq(A, b, rcond=None)[0]
    result = sparqr.solve(df)
    check(abs(result.x - x).max() < 1e-12, f"solve, seed {SEED}: {result.x}, not {x}")
    ones = numpy.column_stack([A, numpy.ones(300)])
    x = numpy.linalg.lstsq(ones, b, rcond=None)[0]
    model = SparseQRRegression().fit(df)
    found = numpy.append(model.coefficients.toArray(), model.intercept)
    check(abs(found - x).max() < 1e-12, f"fit, seed {SEED}: {found}, not {x}")


def main():
    check_package()
    check_kernels()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spark = sparqr.session("local[2]", spark_ui_enabled=False)
    check_jvm(spark)
    check_answers(spark)
    check(sparqr.session() is spark, "another session")
    spark.stop()
    print("installed.py: all is well")


main()
