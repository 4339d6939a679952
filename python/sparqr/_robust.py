# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Robust PCA of tall dense matrices."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional

from sparqr._arrays import Folder, active_session
from sparqr._calls import in_thread
from sparqr._jvm import java_class
from sparqr._rows import Rows
from sparqr._tall import dense_problem, frame_of, transposed

if TYPE_CHECKING:
    import numpy
    import scipy.sparse
    from pyspark.sql import SparkSession

_METHODS = {"ialm": "INEXACT_ALM", "adm": "ADM"}


@dataclass(frozen=True)
class RobustPca:
    """``M = L + S`` with ``L = U diag(s) Vh``.

    Attributes
    ----------
    U, s, Vh : numpy.ndarray
        Shapes (m, r), (r,), (r, n), r the rank of L.
    S : scipy.sparse.csr_array
        Shape (m, n).
    lam : float
        The weight of S.
    converged : bool
        Whether the tolerance was reached.
    warnings : list of str
        That it was not, if so.
    history : list of dict
        Of each iteration the keys ``number``, ``residual`` (norm of M - L - S relative to that of M), ``change``
        (of the multiplier, in units of lam), ``rank``, ``nonzeros``, ``mu``.
    optimality : dict
        How far L and S are from the optimum: ``residual``; ``dualNorm``, at most 1 at the optimum, and
        ``dualMaximum``, at most lam; ``objective``, and ``gap``, its distance from a lower bound, relatively.
    """

    U: numpy.ndarray = field(repr=False)
    s: numpy.ndarray = field(repr=False)
    Vh: numpy.ndarray = field(repr=False)
    S: scipy.sparse.csr_array = field(repr=False)
    lam: float
    converged: bool
    warnings: list[str] = field(repr=False)
    history: list[dict[str, Any]] = field(repr=False)
    optimality: dict[str, float] = field(repr=False)

    @property
    def rank(self) -> int:
        """The rank of L."""
        return len(self.s)

    @property
    def L(self) -> numpy.ndarray:
        """L as an array, shape (m, n), computed anew."""
        return (self.U * self.s) @ self.Vh


def robust_pca(
    M: Any,
    *,
    lam: Optional[float] = None,
    tol: float = 1e-7,
    max_iter: int = 1000,
    method: str = "ialm",
    features_col: str = "features",
    partitions: int = 0,
    session: Optional[SparkSession] = None,
) -> RobustPca:
    """Split M into L of low rank and a sparse S: Robust PCA by principal component pursuit, on Spark.

    Minimizes the sum of L's singular values plus lam times the sum of S's absolute values (Candes, Li, Ma, Wright
    2011). A film with a row for each pixel and a column for each frame becomes background and figures.

    Parameters
    ----------
    M : array_like, sparse matrix, table, pyspark.sql.DataFrame or pyspark.RDD
        As for :func:`sparqr.qr`; of a DataFrame or an RDD L and S come to the driver, too.
    lam : float, optional
        The weight of S, above 0; default ``1 / sqrt(max(m, n))``.
    tol : float
        Of the norm of M - L - S relative to that of M, between 0 and 1.
    max_iter : int
        The largest number of iterations; if it does not suffice, ``converged`` is False.
    method : str
        ``"ialm"``, inexact augmented Lagrangians, or ``"adm"``, alternating directions: the same result, slower.
    features_col, partitions, session
        As for :func:`sparqr.qr`.

    Returns
    -------
    RobustPca

    Raises
    ------
    ValueError
        An unknown method; lam, tol or max_iter out of range; not two-dimensional; not real numbers.
    SparqrError
        NaN or infinity, with its place; all values zero; rows of different lengths; m less than n in Spark.

    Examples
    --------
    >>> found = sparqr.robust_pca(film.reshape(frames, -1).T)  # doctest: +SKIP
    >>> background = found.L[:, 0].reshape(height, width)  # doctest: +SKIP
    """
    if method not in _METHODS:
        raise ValueError(f"method {method!r}: one of {', '.join(map(repr, _METHODS))}")
    if lam is not None and not 0 < lam < float("inf"):
        raise ValueError(f"lam is {lam!r}: a finite number above 0")
    if not 0 < tol < 1:
        raise ValueError(f"tol is {tol!r}: between 0 and 1")
    if isinstance(max_iter, bool) or not hasattr(max_iter, "__index__") or not 1 <= max_iter < 2**31:
        raise ValueError(f"max_iter is {max_iter!r}: a number of iterations, at least 1")
    call = (_METHODS[method], -1.0 if lam is None else float(lam), float(tol), int(max_iter))
    rows_in_spark = frame_of(M, features_col)
    if rows_in_spark is not None:
        there = rows_in_spark

        def of_frame() -> RobustPca:
            found = _support(there.spark).decompose(there.frame._jdf, there.column, *call)
            return _fetched(there.spark, found)

        return in_thread(there.spark, "sparqr.robust_pca", of_frame)
    problem = dense_problem(M)
    m, n = problem.arrays()[0].shape
    if m < n:
        return _turned(
            robust_pca(
                transposed(problem),
                lam=lam,
                tol=tol,
                max_iter=max_iter,
                method=method,
                partitions=partitions,
                session=session,
            )
        )
    spark = session or active_session()

    def of_array() -> RobustPca:
        rows = Rows(spark, problem, partitions)
        try:
            return _fetched(spark, _support(spark).decompose(rows.jrdd, *call))
        finally:
            rows.close()

    return in_thread(spark, "sparqr.robust_pca", of_array)


def _support(spark: SparkSession) -> Any:
    return java_class(spark._jvm, "io.sparqr.spark.arrays.RobustArrays")


def _fetched(spark: SparkSession, found: Any) -> RobustPca:
    """L and S through files; closes what the JVM has."""
    from scipy.sparse import csr_array

    folder = Folder(spark)
    try:
        told = json.loads(_support(spark).write(found, folder.path))
        m, n, rank = told["rows"], told["columns"], told["rank"]
        parts = (folder.read("data", "<f8"), folder.read("indices", "<i4"), folder.read("indptr", "<i8"))
        return RobustPca(
            U=folder.read("u", "<f8").astype(float, copy=False).reshape(m, rank),
            s=folder.read("sigma", "<f8").astype(float, copy=False),
            Vh=folder.read("v", "<f8").astype(float, copy=False).reshape(rank, n),
            S=csr_array(parts, shape=(m, n)),
            lam=told["lambda"],
            converged=told["converged"],
            warnings=told["warnings"],
            history=told["history"],
            optimality=told["optimality"],
        )
    finally:
        found.close()
        folder.remove()


def _turned(found: RobustPca) -> RobustPca:
    """Of the transpose."""
    from dataclasses import replace

    return replace(found, U=found.Vh.T, Vh=found.U.T, S=found.S.T.tocsr())
