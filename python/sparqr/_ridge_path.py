# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Ridge solutions for many lambdas from one factorization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

from sparqr import _progress
from sparqr._arrays import active_session, is_path
from sparqr._calls import in_thread
from sparqr._lstsq import LstsqResult, result_of
from sparqr._rows import Rows, has_labels, problem_of
from sparqr._solve import solver_builder, solver_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def ridge_path(
    A: Any,
    b: Any = None,
    lambdas: Sequence[float] = (),
    *,
    weights: Any = None,
    ordering: str = "auto",
    backend: str = "auto",
    method: str = "auto",
    equilibrate: bool = True,
    partitions: Optional[int] = None,
    progress: Optional[bool] = None,
    session: Optional[SparkSession] = None,
) -> list[LstsqResult]:
    """Solve ``min ||sqrt(W) (b - A x)||^2 + lambda ||x||^2`` for many lambdas, with one factorization of A.

    Parameters
    ----------
    A : sparse matrix or array, array_like, table or path
        Shape (m, n), as for :func:`sparqr.lstsq`.
    b : array_like or path
        Shape (m,) or (m, k), as for :func:`sparqr.lstsq`.
    lambdas : sequence of float
        At least one, each at least 0, in any order.
    weights : array_like, optional
        Shape (m,), at least 0. Default: all are 1.
    ordering, backend, method, equilibrate, partitions, progress : optional
        As for :func:`sparqr.solve`.
    session : pyspark.sql.SparkSession, optional
        Default: the active one, or a new one by ``sparqr.session()``.

    Returns
    -------
    list of LstsqResult
        One for each lambda, in the given order: what :func:`sparqr.lstsq` gives with ``ridge=lambda``, up to rounding.

    Raises
    ------
    ValueError
        No lambda, or one that is negative or not finite; shapes that do not match.
    SparqrError, FileNotFoundError
        As for :func:`sparqr.lstsq`.

    Examples
    --------
    >>> for result in sparqr.ridge_path(A, b, [0.01, 0.1, 1.0]):  # doctest: +SKIP
    ...     print(result.residual_norm)
    """
    asked = [float(value) for value in lambdas]
    if not asked:
        raise ValueError("lambdas is empty")
    for value in asked:
        if not 0 <= value < float("inf"):
            raise ValueError(f"lambda {value!r} is not finite and at least 0")
    settings = solver_settings(
        ordering=ordering, backend=backend, method=method, equilibrate=equilibrate, partitions=partitions
    )
    shows = _progress.wanted(progress)
    problem = problem_of(A, b, weights)
    if problem.b is None and not is_path(A):
        raise ValueError("b is missing")
    spark = session or active_session()

    def work() -> list[LstsqResult]:
        if problem.b is None and (problem.weights is not None or not has_labels(spark, str(problem.matrix))):
            raise ValueError("b is missing: of all files only libsvm has labels, and these without weights")
        gateway: Any = spark.sparkContext._gateway
        values = gateway.new_array(gateway.jvm.double, len(asked))
        for k, value in enumerate(asked):
            values[k] = value
        rows = Rows(spark, problem, settings.get("partitions", 0))
        try:
            with _progress.showing(spark._jvm, shows) as shown:
                solver = solver_builder(spark._jvm, settings, shown and shown.listener).build()
                found = solver.ridgePath(rows.jrdd, values)
                return [result_of(spark, solution, problem, solution.report()) for solution in found]
        finally:
            rows.close()

    made: list[LstsqResult] = in_thread(spark, "sparqr.ridge_path", work)
    return made
