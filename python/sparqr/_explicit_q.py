# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Products with the kept Q of a factorization, between NumPy and the JVM."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from sparqr._arrays import Folder
from sparqr._jvm import doubles, java_class

if TYPE_CHECKING:
    import numpy
    from pyspark.sql import SparkSession

    from sparqr._rows import Rows


class QTransposed(NamedTuple):
    """Q'y: what belongs to the rows of R, and the norms of the rest.

    Attributes
    ----------
    values : numpy.ndarray
        Shape (rank,) or (rank, k).
    rest : float or numpy.ndarray
        The norm of the other m - rank components, the distance of y from the column space of A; shape (k,).
    """

    values: numpy.ndarray
    rest: Any


def transposed(spark: SparkSession, factorization: Any, rows: Rows, y: numpy.ndarray, several: bool) -> QTransposed:
    """Q'y, y of shape (m, k)."""
    import numpy

    with rows.labels(y) as labels:
        found = factorization.applyQTransposed(labels.jrdd)
    values = numpy.column_stack([doubles(spark._jvm, vector) for vector in found.values()])
    rest = doubles(spark._jvm, found.rest())
    return QTransposed(values, rest) if several else QTransposed(values[:, 0], float(rest[0]))


def applied(spark: SparkSession, factorization: Any, c: numpy.ndarray, several: bool) -> numpy.ndarray:
    """Q c, c of shape (rank, k)."""
    support = java_class(spark._jvm, "io.sparqr.spark.python.PythonSupport")
    vectors = support.vectors(c.T.astype("<f8").tobytes(), c.shape[1])
    found = _fetched(spark, factorization.applyQ(vectors), c.shape[1])
    return found if several else found[:, 0]


def columns_of(spark: SparkSession, factorization: Any, columns: Sequence[int]) -> numpy.ndarray:
    """Columns of Q, shape (m, k)."""
    gateway: Any = spark.sparkContext._gateway
    asked = gateway.new_array(gateway.jvm.int, len(columns))
    for k, column in enumerate(columns):
        asked[k] = column
    return _fetched(spark, factorization.q(asked), len(columns))


def _fetched(spark: SparkSession, rows: Any, k: int) -> numpy.ndarray:
    """Rows of k values, which Spark stores until they are here, through a file."""
    folder = Folder(spark)
    try:
        java_class(spark._jvm, "io.sparqr.spark.arrays.TallArrays").write(rows, os.path.join(folder.path, "rows"))
        return folder.read("rows", "<f8").reshape(-1, k)
    finally:
        folder.remove()
        rows.unpersist()
