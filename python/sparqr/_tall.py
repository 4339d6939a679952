# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""QR and SVD of tall dense matrices, with NumPy's meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from sparqr._arrays import active_session, is_path
from sparqr._calls import in_thread
from sparqr._frame import require_no_connect
from sparqr._jvm import doubles, java_class
from sparqr._rows import Problem, Rows, problem_of

if TYPE_CHECKING:
    import numpy
    from pyspark.sql import SparkSession

_MODES = ("r", "reduced", "complete")
_SUPPORT = "io.sparqr.spark.arrays.TallArrays"


def qr(
    A: Any,
    mode: str = "reduced",
    *,
    features_col: str = "features",
    partitions: int = 0,
    session: Optional[SparkSession] = None,
) -> Any:
    """Factorize ``A = Q R``, taken as dense, as :func:`numpy.linalg.qr` does, on Spark.

    The rows' partitions are reduced where they are (TSQR). Q is orthonormal to rounding whatever the condition
    of A: it is never A times the inverse of R.

    Parameters
    ----------
    A : array_like, sparse matrix, table, pyspark.sql.DataFrame or pyspark.RDD
        Shape (m, n): as for :func:`sparqr.lstsq`, except files; or a DataFrame with a column of vectors; or an
        RDD of vectors, arrays or lists of numbers. Rows in Spark need m at least n.
    mode : str
        ``"reduced"``: Q and R of shapes (m, h) and (h, n), with h the smaller of m and n; ``"r"``: R alone;
        ``"complete"``: (m, m) and (m, n), arrays only, made on the driver.
    features_col : str
        A DataFrame's column of vectors.
    partitions : int
        Of the rows of an array; default: the number of Spark's cores.
    session : pyspark.sql.SparkSession, optional
        Default: the active one, or a new one by ``sparqr.session()``.

    Returns
    -------
    (Q, R), or R
        R is a NumPy array whose diagonal is at least 0, other than NumPy's. Q is an array; of a DataFrame a
        DataFrame with the column ``q``, of an RDD an RDD of arrays, both in the order of A's rows and made
        when they are read, from A's rows, which are read again.

    Raises
    ------
    ValueError
        An unknown mode; not two-dimensional; not real numbers.
    SparqrError
        NaN or infinity, with its place; rows of different lengths; m less than n in Spark; a complete Q that
        does not fit into half of the driver's heap.

    Examples
    --------
    >>> Q, R = sparqr.qr(A)  # doctest: +SKIP
    >>> R = sparqr.qr(df, "r", features_col="pixels")  # doctest: +SKIP
    """
    if mode not in _MODES:
        raise ValueError(f"mode {mode!r}: one of {', '.join(map(repr, _MODES))}")
    in_spark = frame_of(A, features_col)
    if in_spark is not None:
        if mode == "complete":
            raise ValueError('mode "complete" makes Q on the driver: it is for arrays')
        return in_spark.qr(mode)
    problem = dense_problem(A)
    spark = session or active_session()
    m, n = _shape(problem)
    if mode == "complete" or m < n:
        return in_thread(spark, "sparqr.qr", lambda: _on_driver(spark, problem, mode, partitions))

    def work() -> Any:
        rows = Rows(spark, problem, partitions)
        try:
            with _Factored(spark, _factorize(spark, rows.jrdd, mode != "r")) as made:
                r = _matrix(spark, made.qr.r())
                return r if mode == "r" else (made.array(made.qr.q(), rows, n), r)
        finally:
            rows.close()

    return in_thread(spark, "sparqr.qr", work)


def svd(
    A: Any,
    k: Optional[int] = None,
    *,
    compute_uv: bool = True,
    features_col: str = "features",
    partitions: int = 0,
    session: Optional[SparkSession] = None,
) -> Any:
    """The k largest singular values of A and their vectors, ``A = U diag(s) Vh``, by QR.

    As ``numpy.linalg.svd(A, full_matrices=False)`` cut to k. Errors of s are of the size of rounding in s[0]:
    A'A, whose eigenvalues have half of the digits, is not formed.

    Parameters
    ----------
    A : array_like, sparse matrix, table, pyspark.sql.DataFrame or pyspark.RDD
        As for :func:`sparqr.qr`.
    k : int, optional
        From 1 to the smaller of m and n; default: that.
    compute_uv : bool
        False: s alone.
    features_col, partitions, session
        As for :func:`sparqr.qr`.

    Returns
    -------
    (U, s, Vh), or s
        Shapes (m, k), (k,), (k, n). U is an array, or of a DataFrame one with the column ``u``, or an RDD.

    Raises
    ------
    ValueError
        k out of range; otherwise as for :func:`sparqr.qr`.
    SparqrError
        As for :func:`sparqr.qr`.
    """
    if k is not None and (isinstance(k, bool) or not hasattr(k, "__index__")):
        raise ValueError(f"k is {k!r}: a number of singular values")
    in_spark = frame_of(A, features_col)
    if in_spark is not None:
        return in_spark.svd(k, compute_uv)
    problem = dense_problem(A)
    m, n = _shape(problem)
    k = _count(k, min(m, n))
    if m < n:
        turned = svd(transposed(problem), k, compute_uv=compute_uv, partitions=partitions, session=session)
        return (turned[2].T, turned[1], turned[0].T) if compute_uv else turned
    spark = session or active_session()

    def work() -> Any:
        rows = Rows(spark, problem, partitions)
        try:
            with _Factored(spark, _factorize(spark, rows.jrdd, compute_uv)) as made:
                found = made.qr.svd(k)
                s = doubles(spark._jvm, found.sigma())
                if not compute_uv:
                    return s
                return made.array(found.u(), rows, k), s, _matrix(spark, found.v()).T
        finally:
            rows.close()

    return in_thread(spark, "sparqr.svd", work)


class _Factored:
    """A factorization in the JVM."""

    def __init__(self, spark: SparkSession, qr: Any) -> None:
        self._spark, self.qr = spark, qr

    def __enter__(self) -> _Factored:
        return self

    def __exit__(self, *_: Any) -> None:
        self.qr.close()

    def array(self, jrdd: Any, rows: Rows, width: int) -> numpy.ndarray:
        """Rows of Q or U, through a file."""
        import os

        path = os.path.join(rows.folder.path, "product")
        java_class(self._spark._jvm, _SUPPORT).write(jrdd, path)
        return rows.folder.read("product", "<f8").astype(float, copy=False).reshape(-1, width)


class InSpark:
    """Rows in Spark, in a column of vectors."""

    def __init__(self, frame: Any, column: str, as_rdd: bool) -> None:
        self.frame, self.column, self._as_rdd = frame, column, as_rdd
        self.spark = frame.sparkSession

    def _call(self, what: str, work: Callable[[Any], Any], with_q: bool) -> Any:
        def run() -> Any:
            support = java_class(self.spark._jvm, _SUPPORT)
            with _Factored(self.spark, support.factorize(self.frame._jdf, self.column, with_q)) as made:
                return work(made.qr)

        return in_thread(self.spark, what, run)

    def _rows(self, jrdd: Any, name: str) -> Any:
        from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

        support = java_class(self.spark._jvm, _SUPPORT)
        frame = ClassicFrame(support.table(self.spark._jsparkSession, jrdd, name), self.spark)
        return frame.rdd.map(lambda row: row[0].toArray()) if self._as_rdd else frame

    def qr(self, mode: str) -> Any:
        def work(made: Any) -> Any:
            r = _matrix(self.spark, made.r())
            return r if mode == "r" else (self._rows(made.q(), "q"), r)

        return self._call("sparqr.qr", work, mode != "r")

    def svd(self, k: Optional[int], compute_uv: bool) -> Any:
        def work(made: Any) -> Any:
            found = made.svd(_count(k, made.columns()))
            s = doubles(self.spark._jvm, found.sigma())
            if not compute_uv:
                return s
            return self._rows(found.u(), "u"), s, _matrix(self.spark, found.v()).T

        return self._call("sparqr.svd", work, compute_uv)


def frame_of(A: Any, column: str) -> Union[InSpark, None]:
    """Rows in Spark as a frame; None if A is no such thing."""
    module = type(A).__module__
    if not module.startswith("pyspark.") or module.startswith("pyspark.pandas."):
        return None
    require_no_connect("DataFrame")
    if hasattr(A, "_jdf"):
        if column not in A.columns:
            raise ValueError(f"the DataFrame has no column {column!r}: it has {', '.join(A.columns)}")
        return InSpark(A, column, as_rdd=False)
    if hasattr(A, "mapPartitions"):
        from pyspark.ml.linalg import VectorUDT
        from pyspark.sql.types import StructField, StructType

        # a function of its own: executors need not have this package
        def vector(row: Any) -> tuple:
            from pyspark.ml.linalg import Vector, Vectors

            return (row if isinstance(row, Vector) else Vectors.dense(row),)

        schema = StructType([StructField("features", VectorUDT(), False)])
        frame = active_session().createDataFrame(A.map(vector), schema, verifySchema=False)
        return InSpark(frame, "features", as_rdd=True)
    return None


def _factorize(spark: SparkSession, jrdd: Any, with_q: bool) -> Any:
    builder = java_class(spark._jvm, "io.sparqr.spark.tall.TallSkinnyQR").builder()
    storage = java_class(spark._jvm, "io.sparqr.spark.tall.QStorage")
    return builder.keepQ(storage.RECOMPUTED if with_q else storage.NONE).factorize(jrdd)


def _on_driver(spark: SparkSession, problem: Problem, mode: str, partitions: int) -> Any:
    import numpy as np

    m, n = _shape(problem)
    height = min(m, n)
    complete = mode == "complete"
    rows = Rows(spark, problem, partitions)
    try:
        support = java_class(spark._jvm, _SUPPORT)
        support.factor(rows.jrdd, m, n, complete, rows.folder.path)
        r = rows.folder.read("r", "<f8").astype(float, copy=False).reshape((height, n))
        q = rows.folder.read("q", "<f8").astype(float, copy=False).reshape((m, -1))
    finally:
        rows.close()
    if mode == "r":
        return r
    return (q, np.vstack([r, np.zeros((m - height, n))])) if complete else (q, r)


def dense_problem(A: Any) -> Problem:
    if is_path(A):
        raise ValueError("A is a path: read the file first, or take bin/sparqr qr for its R and Q")
    return problem_of(A, None, None)


def _shape(problem: Problem) -> tuple[int, int]:
    return problem.arrays()[0].shape


def transposed(problem: Problem) -> numpy.ndarray:
    import numpy as np

    matrix = problem.arrays()[0]
    turned = np.zeros(matrix.shape[::-1])
    turned[matrix.indices, np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))] = matrix.data
    return turned


def _count(k: Optional[int], most: int) -> int:
    if k is None:
        return most
    if not 1 <= k <= most:
        raise ValueError(f"k is {k}: from 1 to {most}")
    return int(k)


def _matrix(spark: SparkSession, java_matrix: Any) -> numpy.ndarray:
    """A dense matrix of Spark ML."""
    values = doubles(spark._jvm, java_matrix.toArray())
    return values.reshape((java_matrix.numRows(), java_matrix.numCols()), order="F")
