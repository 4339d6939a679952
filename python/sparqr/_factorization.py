# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A factorization kept for many right-hand sides, and for new values with the same pattern."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Callable, Optional

from sparqr import _progress
from sparqr._arrays import Matrix, active_session, is_path, right_hand_sides
from sparqr._calls import in_thread
from sparqr._declared import OPTIONS
from sparqr._jvm import doubles, integers
from sparqr._lstsq import LstsqResult, permutation_of, r_of, result_of, shaped
from sparqr._report import page_of, to_html
from sparqr._rows import Problem, Rows, problem_of
from sparqr._solve import solver_builder, solver_settings

if TYPE_CHECKING:
    import numpy
    import scipy.sparse
    from pyspark.sql import SparkSession


def factorize(
    A: Any,
    *,
    weights: Any = None,
    ridge: float = 0.0,
    keep_q: bool = True,
    minimum_norm: bool = False,
    profile: bool = False,
    progress: Optional[bool] = None,
    session: Optional[SparkSession] = None,
    ordering: str = "auto",
    backend: str = "auto",
    rank_tolerance: Optional[float] = None,
    rank_policy: str = "report",
    equilibrate: bool = True,
    refinement: int = 0,
    check: bool = False,
    min_rcond: float = 0.0,
    columns: Optional[int] = None,
    executors: Optional[int] = None,
    minimum_executors: Optional[int] = None,
    executor_wait: Optional[float] = None,
    partitions: Optional[int] = None,
) -> Factorization:
    """Factorize ``sqrt(W) A P = Q R`` and keep it for any number of later right-hand sides.

    Parameters
    ----------
    A : sparse matrix or array, array_like, table or path
        Shape (m, n), as for :func:`sparqr.lstsq`.
    weights : array_like, optional
        Shape (m,), at least 0. Default: all are 1.
    ridge : float
        lambda, at least 0.
    keep_q : bool
        Whether to keep Q beside R, as Householder vectors: solutions are then as accurate as those of
        :func:`sparqr.lstsq`. Q takes about as much memory as the entries of all fronts. Without it solutions
        come from the corrected semi-normal equations, which lose digits from condition numbers of 1e7 on.
    profile : bool
        Record the times and places of all work, for :meth:`Factorization.to_html`.
    progress : bool, optional
        Show progress as :func:`sparqr.solve` does, for this call and all later ones on the factorization.
    session : pyspark.sql.SparkSession, optional
        Default: the active one, or a new one by ``sparqr.session()``.
    ordering, backend, rank_tolerance, rank_policy, equilibrate, refinement, check, min_rcond : optional
        As for :func:`sparqr.solve`.
    columns, executors, minimum_executors, executor_wait, partitions : optional
        As for :func:`sparqr.solve`.
    minimum_norm : bool
        Must be False: a factorization gives basic solutions.

    Returns
    -------
    Factorization
        Must be closed, as by ``with sparqr.factorize(A) as f:``.

    Raises
    ------
    ValueError, SparqrError, FileNotFoundError
        As for :func:`sparqr.lstsq`.

    Examples
    --------
    >>> with sparqr.factorize(A) as f:  # doctest: +SKIP
    ...     x = f.solve(b).x
    ...     f.refit(A2)
    ...     y = f.solve(b).x
    """
    given = dict(locals())
    if minimum_norm:
        raise ValueError("a factorization gives basic solutions: minimum_norm is for sparqr.lstsq")
    settings = solver_settings(**{name: given[name] for name in OPTIONS})
    shows = _progress.wanted(progress)
    problem = problem_of(A, None, weights)
    spark = session or active_session()
    return Factorization(spark, settings, _Kept(bool(keep_q), shows), problem)


@dataclass(frozen=True)
class _Kept:
    """Options of a factorization: whether Q is kept, and whether progress is shown."""

    q: bool
    shows: bool


@dataclass
class _Held:
    """References to objects in the JVM."""

    rows: Rows
    factorization: Any
    problem: Problem
    listener: Any

    def close(self) -> None:
        try:
            self.factorization.close()
        finally:
            self.rows.close()


class Factorization:
    """``sqrt(W) A P = Q R``, kept by Spark until :meth:`close`; made by :func:`factorize`.

    Not thread-safe. After :meth:`close`, all other calls raise ValueError.
    """

    def __init__(self, spark: SparkSession, settings: dict[str, Any], keeps: _Kept, problem: Problem) -> None:
        self._spark, self._settings, self._keeps = spark, settings, keeps
        self._kept: Optional[_Held] = None
        self._kept = self._call("sparqr.factorize", lambda: self._made(problem, None))

    def _made(self, problem: Problem, analysis: Any) -> _Held:
        rows = Rows(self._spark, problem, self._settings.get("partitions", 0))
        try:
            with _progress.showing(self._spark._jvm, self._keeps.shows) as shown:
                listener = shown and shown.listener
                builder = solver_builder(self._spark._jvm, self._settings, listener).keepQ(self._keeps.q)
                if analysis is not None:
                    builder.analysis(analysis)
                return _Held(rows, builder.build().factorize(rows.jrdd), problem, listener)
        except BaseException:
            rows.close()
            raise

    def _shown(self, what: str, work: Callable[[], Any]) -> Any:
        """A call with the progress that the factorization reports."""
        held, jvm = self._held, self._spark._jvm

        def showing() -> Any:
            with _progress.showing(jvm, held.listener is not None, held.listener):
                return work()

        return self._call(what, showing)

    def _call(self, what: str, work: Callable[[], Any]) -> Any:
        return in_thread(self._spark, what, work)

    @property
    def _held(self) -> _Held:
        if self._kept is None:
            raise ValueError("this factorization is closed")
        return self._kept

    def solve(self, b: Any, *, standard_errors: bool = False) -> LstsqResult:
        """Solve ``min ||sqrt(W) (b - A x)||`` (and the ridge) for another b.

        Parameters
        ----------
        b : array_like
            Shape (m,) or (m, k).
        standard_errors : bool
            Compute standard errors of x, too; the first time this takes as many flops as the factorization.

        Returns
        -------
        LstsqResult
            With ``permutation`` and ``report``; R is :attr:`r` of this object.

        Raises
        ------
        ValueError
            b and A differ in their numbers of rows, or the factorization is closed.
        SparqrError
            NaN or infinity in b, with its place.
        """
        held = self._held
        sides, several = right_hand_sides(b, self.shape[0])
        asked = Problem(held.problem.matrix, sides, several, held.problem.weights)

        def work() -> LstsqResult:
            with held.rows.labels(sides) as labels:
                solution = held.factorization.solve(labels.jrdd)
                order = permutation_of(self._spark, held.factorization)
                report = solution.report()
                result = result_of(self._spark, solution, asked, report, permutation=order)
            if not standard_errors:
                return result
            return LstsqResult(**{**vars(result), "standard_errors": self._errors(result, several)})

        return self._shown("sparqr: solve", work)

    def _errors(self, result: LstsqResult, several: bool) -> numpy.ndarray:
        import numpy

        jvm = self._spark._jvm
        unscaled = doubles(jvm, self._held.factorization.unscaledErrors())
        freedom = result.report["rows"] - result.rank
        norms = numpy.atleast_1d(result.residual_norm)
        sigma = norms / numpy.sqrt(freedom) if freedom > 0 else numpy.full(len(norms), numpy.nan)
        return shaped([unscaled * s for s in sigma], several)

    def refit(self, A: Any, *, weights: Any = None) -> Factorization:
        """Replace the factorization by one of new values, with the same analysis.

        For Gauss-Newton and reweighting. A different pattern is analyzed anew, with a warning in the report.
        If the call fails, the old factorization stays.

        Parameters
        ----------
        A : sparse matrix or array, array_like, table or path
            Shape (m, n), as before; or the new values alone, shape (nnz,), in the order of
            ``A.tocsr().data`` with duplicates summed, unless A was a file.
        weights : array_like, optional
            Shape (m,). Default: all are 1, even if there were weights before.

        Returns
        -------
        Factorization
            This object.

        Raises
        ------
        ValueError, SparqrError
            As for :func:`factorize`; ValueError if the shape of A has changed.
        """
        held = self._held
        if not is_path(A) and getattr(A, "ndim", None) == 1:
            A = _with_values(held.problem.matrix, A)
        problem = problem_of(A, None, weights)
        self._require_shape(problem.matrix)

        def work() -> _Held:
            made = self._made(problem, held.factorization.analysis())
            if made.rows.shape != held.rows.shape:
                made.close()
                self._require_shape(made.rows)
            return made

        self._kept = self._call("sparqr: refit", work)
        self._call("sparqr: close", held.close)
        return self

    def _require_shape(self, other: Any) -> None:
        shape = getattr(other, "shape", None)
        if shape is not None and tuple(shape) != self.shape:
            m, n = self.shape
            raise ValueError(f"the new A is {shape[0]:,} x {shape[1]:,}, this one {m:,} x {n:,}")

    def standard_errors_unscaled(self) -> numpy.ndarray:
        """``sqrt(diag((A'WA)^-1))``, shape (n,), NaN in dependent columns: standard errors for sigma = 1."""
        held = self._held
        jvm = self._spark._jvm
        return self._shown("sparqr: errors", lambda: doubles(jvm, held.factorization.unscaledErrors()))

    def leverages(self) -> numpy.ndarray:
        """Leverages of the rows, ``sqrt(w_i) a_i' (A'WA)^-1 a_i sqrt(w_i)`` over the independent columns, shape (m,): the
        diagonal of the hat matrix, whose sum is the rank (less with a ridge). 0 for rows of weight 0.

        Costs about as much as :meth:`standard_errors_unscaled`, which it includes, and a pass over the rows.
        """
        import numpy

        held = self._held
        jvm = self._spark._jvm

        def work() -> numpy.ndarray:
            parts = [doubles(jvm, part) for part in held.factorization.leverages().collect()]
            found = numpy.concatenate([*parts, numpy.zeros(0)])
            if held.problem.weights is None:
                return found
            whole = numpy.zeros(len(held.problem.weights))
            whole[held.problem.weights > 0] = found
            return whole

        return self._shown("sparqr: leverages", work)

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return self._held.rows.shape

    @property
    def rank(self) -> int:
        """Numerical rank of A."""
        held = self._held
        return self._call("sparqr: rank", held.factorization.rank)

    @property
    def dead_columns(self) -> list[int]:
        """Columns that depend on others, ascending."""
        held = self._held
        jvm = self._spark._jvm
        return self._call(
            "sparqr: rank", lambda: integers(jvm, held.factorization.deadColumns()).tolist()
        )

    @property
    def permutation(self) -> numpy.ndarray:
        """Column order P, shape (n,): ``A[:, permutation]`` has the columns of R."""
        held = self._held
        return self._call("sparqr: order", lambda: permutation_of(self._spark, held.factorization))

    @property
    def r(self) -> scipy.sparse.csr_array:
        """R, rank x n, upper trapezoidal: fetched anew on every access.

        SparqrError (InsufficientMemoryException) if R does not fit into half of the driver's heap.
        """
        held = self._held
        return self._call("sparqr: R", lambda: r_of(self._spark, held.factorization))

    @property
    def report(self) -> dict[str, Any]:
        """Record of the factorization, by the names of the JSON report."""
        held = self._held
        return self._call("sparqr: report", lambda: json.loads(held.factorization.summary().toJson()))

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """The report as one page with pictures, as :meth:`LeastSquaresResult.to_html`.

        Parameters
        ----------
        path : str or path, optional
            Where to write it.

        Raises
        ------
        ValueError
            The factorization was made without ``profile=True``.
        """
        held = self._held
        jvm = self._spark._jvm
        return to_html(
            self._call("sparqr: page", lambda: page_of(jvm, held.factorization.summary())), path
        )

    def close(self) -> None:
        """Release R, Q and the rows; idempotent."""
        held, self._kept = self._kept, None
        if held is not None:
            self._call("sparqr: close", held.close)

    def __enter__(self) -> Factorization:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        """R and Q are in Spark's JVM."""
        raise TypeError(
            "a factorization cannot be pickled: R and Q lie in Spark's JVMs. Results of solve() can, and f.r and "
            "f.permutation"
        )

    def __repr__(self) -> str:
        if self._kept is None:
            return "Factorization(closed)"
        m, n = self.shape
        return f"Factorization(rows={m}, columns={n}, rank={self.rank})"


def _with_values(matrix: Any, values: Any) -> Any:
    """The current matrix with other values."""
    if not isinstance(matrix, Matrix):
        raise ValueError("A was a file: give the new A as a whole")
    import numpy
    from scipy.sparse import csr_array

    values = numpy.asarray(values)
    if values.shape != matrix.data.shape:
        raise ValueError(f"{len(values):,} values for {len(matrix.data):,} entries of A")
    return csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
