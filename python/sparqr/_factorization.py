# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A factorization kept for many right-hand sides, and for new values with the same pattern."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Callable, Optional

from sparqr import _connect_arrays, _progress
from sparqr._arrays import Matrix, active_session, is_path, right_hand_sides
from sparqr._declared import OPTIONS
from sparqr._factored import Factored, Held, Keeps, file_errors, place_of, valued
from sparqr._jvm import doubles, java_class
from sparqr._lstsq import LstsqResult, permutation_of, result_of, shaped
from sparqr._rows import Problem, Rows, has_labels, problem_of
from sparqr._solve import solver_builder, solver_settings

if TYPE_CHECKING:
    import numpy
    from pyspark.sql import SparkSession


def factorize(
    A: Any,
    b: Any = None,
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
    method: str = "auto",
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
    b : array_like or path, optional
        Shape (m,) or (m, k): right-hand sides that are factored with A, for ``solve()`` without one,
        :meth:`Factorization.append` and :meth:`Factorization.predict`.
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
    ordering, backend, method, rank_tolerance, rank_policy, equilibrate, refinement, check, min_rcond : optional
        As for :func:`sparqr.solve`.
    columns, executors, minimum_executors, executor_wait, partitions : optional
        As for :func:`sparqr.solve`.
    minimum_norm : bool
        Must be False: a factorization gives basic solutions.

    Returns
    -------
    Factorization
        Must be closed, as by ``with sparqr.factorize(A) as f:``. Over Spark Connect the server keeps it; one from 4.1
        on may let it go after 15 minutes without a call.

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
    problem = problem_of(A, b, weights)
    remote = _connect_arrays.remote(session)
    if remote is not None:
        from sparqr._connect_factorization import factorize as on_server

        _connect_arrays.require_arrays(problem)
        return on_server(remote, problem, settings, bool(keep_q))
    spark = session or active_session()
    made = Factorization(spark, settings, Keeps(bool(keep_q), shows))
    made._kept = made._call("sparqr.factorize", lambda: made._made(problem, None))
    return made


def load(folder: str | PathLike[str], *, session: Optional[SparkSession] = None) -> Factorization:
    """Load a factorization that :meth:`Factorization.save` has saved, by Python or by Java.

    Parameters
    ----------
    folder : str or path
        Of any file system of Hadoop's; over Spark Connect, as the server sees it. Keep the files until the
        factorization is closed.
    session : pyspark.sql.SparkSession, optional
        Default: the active one, or a new one by ``sparqr.session()``.

    Returns
    -------
    Factorization
        Without rows and Q: ``solve()`` solves for the b that it was saved with (zeros if there was none),
        :meth:`Factorization.solve_relabeled` for another one, :meth:`Factorization.append` takes further rows.

    Raises
    ------
    FileNotFoundError
        There is no factorization in the folder.
    SparqrError
        It is truncated, damaged, or of another version of the format.
    """
    remote = _connect_arrays.remote(session)
    if remote is not None:
        from sparqr._connect_factorization import load as on_server

        return on_server(remote, folder)
    spark = session or active_session("factorization")
    place = place_of(folder)

    def work() -> Held:
        loader = java_class(spark._jvm, "io.sparqr.spark.GpuSparseQR")
        with file_errors():
            found = loader.load(spark.sparkContext._jsc, place)
        matrix = found.summary().matrix()
        return Held(None, found, None, None, (matrix.rows(), matrix.columns()), matrix.rhs() > 1)

    made = Factorization(spark, None, Keeps(False, False))
    made._kept = made._call("sparqr.load", work)
    return made


class Factorization(Factored):
    """``sqrt(W) A P = Q R``, kept by Spark until :meth:`close`; made by :func:`factorize`, :func:`load`, :meth:`append`.

    Not thread-safe. After :meth:`close`, all other calls raise ValueError.
    """

    def _made(self, problem: Problem, analysis: Any) -> Held:
        settings = self._settings or {}
        rows = Rows(self._spark, problem, settings.get("partitions", 0))
        try:
            with _progress.showing(self._spark._jvm, self._keeps.shows) as shown:
                listener = shown and shown.listener
                builder = solver_builder(self._spark._jvm, settings, listener).keepQ(self._keeps.q)
                if analysis is not None:
                    builder.analysis(analysis)
                made = builder.build().factorize(rows.jrdd)
                return Held(rows, made, problem, listener, rows.shape, problem.several, self._has_b(problem))
        except BaseException:
            rows.close()
            raise

    def _has_b(self, problem: Problem) -> bool:
        if problem.b is not None or not isinstance(problem.matrix, str):
            return problem.b is not None
        return problem.weights is None and has_labels(self._spark, problem.matrix)

    def solve(self, b: Any = None, *, standard_errors: bool = False) -> LstsqResult:
        """Solve ``min ||sqrt(W) (b - A x)||`` (and the ridge) for another b.

        Parameters
        ----------
        b : array_like, optional
            Shape (m,) or (m, k). Default: the b that was factored with A.
        standard_errors : bool
            Compute standard errors of x, too; the first time this takes as many flops as the factorization.

        Returns
        -------
        LstsqResult
            With ``permutation`` and ``report``; R is :attr:`r` of this object.

        Raises
        ------
        ValueError
            b and A differ in their numbers of rows, there is no b, the factorization was loaded or appended to and b is
            given, or it is closed.
        SparqrError
            NaN or infinity in b, with its place.
        """
        held = self._held
        if b is None:

            def known() -> Any:
                held.require_b()
                return held.factorization.solve()

            return self._solved(known, held.several, standard_errors)
        rows = held.aligned()
        sides, several = right_hand_sides(b, self.shape[0])

        def further() -> Any:
            with rows.labels(sides) as labels:
                return held.factorization.solve(labels.jrdd)

        return self._solved(further, several, standard_errors)

    def solve_relabeled(self, A: Any, b: Any, *, weights: Any = None, standard_errors: bool = False) -> LstsqResult:
        """As :meth:`solve`, with all of A and the weights given once more: after :func:`load` and :meth:`append`, which
        leave no rows. By the corrected semi-normal equations.

        Parameters
        ----------
        A : sparse matrix or array, array_like, table or path
            Shape (m, n): all rows that were factored, in any order.
        b : array_like or path
            Shape (m,) or (m, k).
        weights : array_like, optional
            Shape (m,): those that were factored.
        standard_errors : bool
            As for :meth:`solve`.

        Raises
        ------
        ValueError
            These are the rows of another matrix.
        SparqrError
            Another number of rows or columns; NaN or infinity, with its place.
        """
        held = self._held
        problem = problem_of(A, b, weights)

        def further() -> Any:
            rows = Rows(self._spark, problem)
            try:
                return valued(lambda: held.factorization.solveRelabeled(rows.jrdd))
            finally:
                rows.close()

        return self._solved(further, problem.several, standard_errors)

    def _solved(self, work: Callable[[], Any], several: bool, standard_errors: bool) -> LstsqResult:
        """A solution in the JVM, fetched."""
        held = self._held

        def fetched() -> LstsqResult:
            solution = work()
            order = permutation_of(self._spark, held.factorization)
            asked = Problem(held.problem.matrix if held.problem else "", None, several, None)
            result = result_of(self._spark, solution, asked, solution.report(), permutation=order)
            if not standard_errors:
                return result
            unscaled = doubles(self._spark._jvm, held.factorization.unscaledErrors())
            return with_errors(result, unscaled, several)

        return self._shown("sparqr: solve", fetched)

    def append(self, A: Any, b: Any = None, *, weights: Any = None) -> Factorization:
        """The factorization of the rows of this one and new ones together, by QR of ``[R; sqrt(W) A]``: the old rows are
        not read. Solution, errors, rank and report are those of a fit of all rows, up to rounding.

        Parameters
        ----------
        A : sparse matrix or array, array_like, table or path
            Shape (rows, n); with more columns than before these are new ones.
        b : array_like or path, optional
            Shape (rows,) or (rows, k), if and only if this one was factored with b.
        weights : array_like, optional
            Shape (rows,). Default: all are 1.

        Returns
        -------
        Factorization
            A new one, to be closed as well, and before this one. It has no rows to align a new b with, and no Q:
            ``solve()`` solves for the b of all rows, :meth:`solve_relabeled` for others.

        Raises
        ------
        ValueError
            b is missing, or A had none.
        SparqrError
            Another number of right-hand sides, or fewer columns; otherwise as for :func:`factorize`.
        """
        held = self._held
        problem = problem_of(A, b, weights)
        made = Factorization(self._spark, None, Keeps(False, self._keeps.shows))

        def work() -> Held:
            require_b_as_before(self._has_b(problem), held.with_b)
            rows = Rows(self._spark, problem)
            try:
                found = valued(lambda: held.factorization.append(rows.jrdd))
                shape = (held.shape[0] + rows.shape[0], found.analysis().columns())
                return Held(rows, found, None, held.listener, shape, held.several, held.with_b)
            except BaseException:
                rows.close()
                raise

        made._kept = self._shown("sparqr: append", work)
        return made

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
        if self._settings is None or held.problem is None:
            raise ValueError("refit is of factorizations by sparqr.factorize, not of those loaded or appended to")
        if not is_path(A) and getattr(A, "ndim", None) == 1:
            A = _with_values(held.problem.matrix, A)
        problem = problem_of(A, None, weights)
        self._require_shape(problem.matrix)
        self._renew(problem)
        return self

    def _renew(self, problem: Problem) -> None:
        held = self._held

        def work() -> Held:
            made = self._made(problem, held.factorization.analysis())
            if made.shape != held.shape:
                made.close()
                self._require_shape(made)
            return made

        self._kept = self._call("sparqr: refit", work)
        self._call("sparqr: close", held.close)

    def _require_shape(self, other: Any) -> None:
        shape = getattr(other, "shape", None)
        if shape is not None and tuple(shape) != self.shape:
            m, n = self.shape
            raise ValueError(f"the new A is {shape[0]:,} x {shape[1]:,}, this one {m:,} x {n:,}")

    def __enter__(self) -> Factorization:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def require_b_as_before(has_b: bool, had_b: bool) -> None:
    """ValueError unless new rows have right-hand sides if and only if the old ones had."""
    if has_b != had_b:
        raise ValueError("the new rows have " + ("no b, A had one" if had_b else "a b, A had none"))


def with_errors(result: LstsqResult, unscaled: numpy.ndarray, several: bool) -> LstsqResult:
    """The result with standard errors: those for sigma = 1 times each right-hand side's sigma."""
    import numpy

    freedom = result.report["rows"] - result.rank
    norms = numpy.atleast_1d(result.residual_norm)
    sigma = norms / numpy.sqrt(freedom) if freedom > 0 else numpy.full(len(norms), numpy.nan)
    found = shaped([unscaled * s for s in sigma], several)
    return LstsqResult(**{**vars(result), "standard_errors": found})


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
