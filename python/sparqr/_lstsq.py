# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Least squares from matrices and files, without a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Optional

from sparqr import _connect_arrays, _progress
from sparqr._arrays import Folder, active_session, is_path
from sparqr._calls import in_thread
from sparqr._declared import OPTIONS
from sparqr._jvm import doubles, integers, java_class
from sparqr._predictions import Predictions, new_rows, predicted, predictions
from sparqr._report import page_of, read
from sparqr._rows import Problem, Rows, array_rows, has_labels, problem_of
from sparqr._solve import LeastSquaresResult, solver_builder, solver_settings

if TYPE_CHECKING:
    import numpy
    import scipy.sparse
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, repr=False)
class LstsqResult(LeastSquaresResult):
    """Result of :func:`lstsq` and :meth:`Factorization.solve`.

    Attributes
    ----------
    x : numpy.ndarray
        The solution, shape (n,), or (n, k) if b was two-dimensional.
    residual_norm : float or numpy.ndarray
        ``||sqrt(W) (b - A x)||``, shape (k,) if b was two-dimensional.
    rank : int
        Numerical rank of A.
    dead_columns : list of int
        Columns that depend on others, ascending; ``x`` is 0 there, except in a minimum-norm solution.
    report : dict
        Sizes, ordering, flops, backend, seconds and the rest, by the names of the JSON report.
    permutation : numpy.ndarray or None
        Column order P, shape (n,): column ``i`` of ``A[:, permutation]`` is position i of R. None for a
        minimum-norm solution.
    r : scipy.sparse.csr_array or None
        R of ``sqrt(W) A P = Q R``, rank x n, upper trapezoidal; None unless requested.
    standard_errors : numpy.ndarray or None
        Standard errors of x, in its shape, NaN in dependent columns; None unless requested.
    names : list of str or None
        Names of A's columns, if A was a table.
    predictions : Predictions or None
        Of the rows that were given as ``predict``, with errors and intervals: ``result.predictions.interval()``.
    multipliers : numpy.ndarray or None
        Lagrange multipliers of the constraints, mu with ``A' W (b - A x) = C' mu`` (less ridge x), shape (p,) or
        (p, k); None without constraints.
    """

    permutation: Optional[numpy.ndarray] = None
    r: Optional[scipy.sparse.csr_array] = None
    standard_errors: Optional[numpy.ndarray] = None
    names: Optional[list[str]] = None
    multipliers: Optional[numpy.ndarray] = None
    predictions: Optional[Predictions] = None


def lstsq(
    A: Any,
    b: Any = None,
    *,
    weights: Any = None,
    ridge: float = 0.0,
    minimum_norm: bool = False,
    constraints: Optional[tuple[Any, Any]] = None,
    standard_errors: bool = False,
    r: bool = False,
    predict: Any = None,
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
) -> LstsqResult:
    """Solve ``min ||sqrt(W) (b - A x)||^2 + ridge ||x||^2`` exactly, by sparse QR.

    Parameters
    ----------
    A : sparse matrix or array, array_like, table or path
        Shape (m, n): from ``scipy.sparse`` in any format (duplicates are summed), NumPy, pandas, Polars or
        Arrow (every column becomes a column of A); or any value of the command line's ``--matrix``: a Matrix
        Market, libsvm, Parquet or CSV file, or ``gen:SPEC``. m may be less than n.
    b : array_like or path
        Shape (m,) or (m, k); with a file of A also a Matrix Market file. May be omitted if A is a libsvm
        file, because that contains labels.
    weights : array_like, optional
        Shape (m,), at least 0. Default: all are 1.
    ridge : float
        lambda, at least 0.
    minimum_norm : bool
        If there are several solutions, return the minimum-norm solution instead of a basic one.
    constraints : tuple, optional
        (C, d): equations C x = d that x must satisfy, C of shape (p, n) as A but no file, d of shape (p,), or (p, k) for
        each column of b. They must not depend on each other. A may be rank-deficient if they make x unique. Costs 8 n p
        bytes on the driver.
    standard_errors : bool
        Compute standard errors of x, too: ``sqrt(diag((A'WA)^-1))`` times ``residual_norm / sqrt(m - rank)``.
        This takes as many flops as the factorization.
    r : bool
        Return R, too; it must fit into half of the heap of Spark's driver, and into Python's memory.
    predict : sparse matrix or array, array_like or table, optional
        Shape (rows, n): new rows to predict, with errors and intervals. Costs a triangular solve with R for each.
    profile : bool
        Record the times and places of all work, for :meth:`LstsqResult.to_html`.
    progress : bool, optional
        Show progress, as :func:`sparqr.solve` does.
    session : pyspark.sql.SparkSession, optional
        Default: the active one, or a new one by ``sparqr.session()``.
    ordering, backend, method, rank_tolerance, rank_policy, equilibrate, refinement, check, min_rcond : optional
        As for :func:`sparqr.solve`.
    columns, executors, minimum_executors, executor_wait, partitions : optional
        As for :func:`sparqr.solve`.

    Returns
    -------
    LstsqResult

    Raises
    ------
    ValueError
        Shapes that do not match, types other than real numbers, an index out of range; minimum_norm with r,
        standard_errors or predict, which belong to a basic solution.
    SparqrError
        NaN or infinity in A, b or the weights, a negative weight, each with its place; an R that is too
        large; otherwise as for :func:`sparqr.solve`.
    FileNotFoundError
        The file does not exist.

    Notes
    -----
    A and b are passed to Spark's JVM in files of raw arrays in its local directory, which are then deleted;
    on a cluster the driver sends each executor its rows. Over Spark Connect they go to the server first, 2 GB at most,
    and A must not be a file.

    Examples
    --------
    >>> A = scipy.sparse.random_array((100_000, 5_000), density=1e-3)
    >>> sparqr.lstsq(A, b).x  # doctest: +SKIP
    """
    given = dict(locals())
    if minimum_norm and (r or standard_errors or predict is not None):
        raise ValueError(
            "r, standard_errors and predict belong to a basic solution, not to the one of least norm: leave out "
            "minimum_norm"
        )
    if constraints is not None and (minimum_norm or r or predict is not None):
        raise ValueError("constraints go neither with minimum_norm nor with r nor with predict: leave out one of them")
    settings = solver_settings(**{name: given[name] for name in OPTIONS})
    shows = _progress.wanted(progress)
    problem = problem_of(A, b, weights)
    if problem.b is None and not is_path(A):
        raise ValueError("b is missing")
    conditions = None if constraints is None else _conditions(constraints, problem)
    remote = _connect_arrays.remote(session)
    if remote is not None:
        _connect_arrays.require_arrays(problem)
        words = {"partitions": settings.get("partitions", 0), "standardErrors": bool(standard_errors), "r": bool(r)}
        new = None if predict is None else new_rows(predict, None, problem.arrays()[0].shape[1])
        told = _connect_arrays.ask(remote, "solve", settings, words, A=problem, C=conditions, new=new)
        return answered(told, problem.several, problem.names)
    spark = session or active_session()
    # with a ridge the solution is unique
    least = bool(minimum_norm) and not ridge

    def work() -> LstsqResult:
        if problem.b is None and (problem.weights is not None or not has_labels(spark, str(problem.matrix))):
            raise ValueError("b is missing: of all files only libsvm has labels, and these without weights")
        rows = Rows(spark, problem, settings.get("partitions", 0))
        try:
            with _progress.showing(spark._jvm, shows) as shown:
                return solved(rows, shown)
        finally:
            rows.close()

    def solved(rows: Rows, shown: Any) -> LstsqResult:
        solver = solver_builder(spark._jvm, settings, shown and shown.listener).build()
        if least:
            solution = solver.solve(rows.jrdd)
            return result_of(spark, solution, problem, solution.report())
        if conditions is not None:
            return _constrained(spark, solver, rows, problem, conditions, standard_errors)
        factorization = solver.factorize(rows.jrdd)
        try:
            made = _of_factorization(spark, factorization, problem, standard_errors, r)
            if predict is None:
                return made
            found = predictions(spark, factorization, predict, None, problem.several)
            return replace(made, predictions=found)
        finally:
            factorization.close()

    return in_thread(spark, "sparqr.lstsq", work)


def _conditions(constraints: Any, problem: Problem) -> Problem:
    """C and d, checked as A and b are."""
    try:
        C, d = constraints
    except (TypeError, ValueError):
        raise TypeError("constraints is no pair (C, d) of the equations C x = d") from None
    if is_path(C) or is_path(d):
        raise ValueError("constraints come as arrays, not as files")
    made = problem_of(C, d, None)
    n = getattr(problem.matrix, "shape", (0, None))[1]
    p, columns = made.arrays()[0].shape
    if n is not None and columns != n:
        raise ValueError(f"constraints have {columns:,} columns, A has {n:,}")
    k, asked = (None if x is None or isinstance(x, str) else x.shape[1] for x in (problem.b, made.b))
    if k is not None and asked != k:
        raise ValueError(f"d has {asked:,} columns for {k:,} of b")
    return made


def _constrained(
    spark: SparkSession, solver: Any, rows: Rows, problem: Problem, conditions: Problem, errors: bool
) -> LstsqResult:
    jvm: Any = spark._jvm
    equations = Rows(spark, conditions, 1)
    try:
        told = java_class(jvm, "io.sparqr.spark.model.LinearConstraints").of(equations.jrdd.collect())
    finally:
        equations.close()
    factorization = solver.factorize(rows.jrdd, told)
    try:
        solution = factorization.solve()
        each = range(solution.rhsCount())
        found = [doubles(jvm, factorization.standardErrors(j)) for j in each] if errors else None
        return result_of(
            spark,
            solution,
            problem,
            solution.report(),
            standard_errors=None if found is None else shaped(found, problem.several),
            multipliers=shaped([doubles(jvm, factorization.multipliers(j)) for j in each], problem.several),
        )
    finally:
        factorization.close()


def _of_factorization(
    spark: SparkSession, factorization: Any, problem: Problem, errors: bool, r: bool
) -> LstsqResult:
    solution = factorization.solve()
    k = solution.rhsCount()
    found = [doubles(spark._jvm, factorization.standardErrors(j)) for j in range(k)] if errors else None
    return result_of(
        spark,
        solution,
        problem,
        factorization.summary(),
        permutation=permutation_of(spark, factorization),
        r=r_of(spark, factorization) if r else None,
        standard_errors=None if found is None else shaped(found, problem.several),
    )


def result_of(spark: SparkSession, solution: Any, problem: Problem, shown: Any, **more: Any) -> LstsqResult:
    """Java's LeastSquaresSolution as a result, with the report's page from ``shown``."""
    jvm = spark._jvm
    report = solution.report()
    if isinstance(problem.matrix, str) and problem.matrix:
        report, shown = report.withInput(problem.matrix), shown.withInput(problem.matrix)
    x = [doubles(jvm, solution.x(j)) for j in range(solution.rhsCount())]
    norms = doubles(jvm, solution.residualNorms())
    return LstsqResult(
        x=shaped(x, problem.several),
        residual_norm=norms if problem.several else float(norms[0]),
        rank=solution.rank(),
        dead_columns=integers(jvm, solution.deadColumns()).tolist(),
        report=read(report.toJson()),
        names=problem.names,
        _page=page_of(jvm, shown),
        **more,
    )


def answered(told: dict[str, Any], several: bool, names: Optional[list[str]]) -> LstsqResult:
    """The answer of a server of Spark Connect as a result.

    Parameters
    ----------
    told : dict
        Texts and arrays by name, as Java's ``Answers`` gives them.
    several : bool
        Whether b was two-dimensional.
    names : list of str or None
        Of A's columns.
    """
    norms, report, rank = told["norms"], read(told["report"]), int(told["rank"])

    def columns(what: str) -> Optional[numpy.ndarray]:
        return shaped([told[f"{what}{j}"] for j in range(len(norms))], several) if f"{what}0" in told else None

    predictions = told.get("predictions")
    return LstsqResult(
        x=columns("x"),
        residual_norm=norms if several else float(norms[0]),
        rank=rank,
        dead_columns=told["dead"].astype(int).tolist(),
        report=report,
        names=names,
        permutation=told["permutation"].astype("int32") if "permutation" in told else None,
        r=factor_of(told, len(told["permutation"])) if "r.data" in told else None,
        standard_errors=columns("errors"),
        multipliers=columns("multipliers"),
        predictions=None if predictions is None else predicted(predictions, len(norms), several, report["rows"] - rank),
        _page=told["page"],
    )


def factor_of(told: dict[str, Any], n: int) -> scipy.sparse.csr_array:
    """R, rank x n, in the answer of a server of Spark Connect."""
    parts = (told["r.data"], told["r.indices"].astype("int32"), told["r.indptr"].astype("int32"))
    return _sparse()(parts, shape=(len(parts[2]) - 1, n))


def _sparse() -> Any:
    try:
        from scipy.sparse import csr_array
    except ImportError:
        raise ImportError("R comes as a matrix of SciPy: pip install scipy") from None
    return csr_array


def shaped(columns: list, several: bool) -> numpy.ndarray:
    """Vectors of length n as (n, k), or a single one unchanged."""
    import numpy

    return numpy.column_stack(columns) if several else columns[0]


def permutation_of(spark: SparkSession, factorization: Any) -> numpy.ndarray:
    """P, shape (n,)."""
    return integers(spark._jvm, factorization.analysis().permutation().toArray())


def r_of(spark: SparkSession, factorization: Any) -> scipy.sparse.csr_array:
    """R, passed through a file."""
    csr_array = _sparse()
    folder = Folder(spark)
    try:
        writer = java_class(spark._jvm, "io.sparqr.spark.arrays.FactorArrays")
        rank = writer.write(factorization.collectR(), folder.path)
        n = factorization.analysis().columns()
        parts = (folder.read("data", "<f8"), folder.read("indices", "<i4"), folder.read("indptr", "<i4"))
        return csr_array(parts, shape=(rank, n))
    finally:
        folder.remove()


def from_scipy(
    A: Any,
    b: Any = None,
    *,
    weights: Any = None,
    partitions: int = 0,
    session: Optional[SparkSession] = None,
) -> DataFrame:
    """A as a Spark DataFrame: a sparse vector ``features`` per row, with ``label`` and ``weight`` columns.

    For :func:`sparqr.solve`, :mod:`sparqr.ml` and Spark's own estimators. The order of the rows is kept.

    Parameters
    ----------
    A : sparse matrix or array, array_like or table
        Shape (m, n), as for :func:`lstsq`, except files.
    b : array_like, optional
        Shape (m,): the column ``label``; or (m, k): ``label_0``, ``label_1``, ...
    weights : array_like, optional
        Shape (m,): the column ``weight``.
    partitions : int
        Default: the number of Spark's cores.
    session : pyspark.sql.SparkSession, optional
        Default: the active one, or a new one by ``sparqr.session()``.

    Returns
    -------
    pyspark.sql.DataFrame
        Reads files of raw arrays in Spark's local directory, 12 bytes per entry and 8 per row, which stay
        until the session ends. Over Spark Connect it is a local table of 2 GB at most, sent with the plans that read it.

    Raises
    ------
    ValueError, SparqrError
        As for :func:`lstsq`.
    """
    if is_path(A):
        raise ValueError("A is a path: Spark reads files itself, sparqr.lstsq takes them too")
    problem = problem_of(A, b, weights)
    remote = _connect_arrays.remote(session)
    if remote is not None:
        return _connect_arrays.frame(remote, problem, partitions)
    spark = session or active_session()

    def work() -> Any:
        folder = Folder(spark, kept=True)
        try:
            folder.write_matrix(*problem.arrays(), problem.weights)
            rows = array_rows(spark, folder, problem, partitions)
            return rows.table(spark._jsparkSession)
        except BaseException:
            folder.remove()
            raise

    from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

    return ClassicFrame(in_thread(spark, "sparqr.from_scipy", work), spark)
