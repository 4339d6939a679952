# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Least squares from a DataFrame."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Any

from sparqr import _connect, _progress, _report
from sparqr._calls import in_thread
from sparqr._display import solution_frame, solution_html
from sparqr._frame import require_frame
from sparqr._jvm import doubles, java_class, side_by_side

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import DataFrame

_ORDERINGS = {
    "auto": "AUTO",
    "colamd": "COLAMD",
    "amd": "AMD",
    "nd": "NESTED_DISSECTION",
    "natural": "NATURAL",
    "best": "BEST",
}
_BACKENDS = {"auto": "AUTO", "cpu": "CPU", "cuda": "REQUIRE_CUDA"}
_RANK_POLICIES = {"report": "REPORT", "fail": "FAIL"}


@dataclass(frozen=True)
class LeastSquaresResult:
    """Result of :func:`solve`.

    Attributes
    ----------
    x : numpy.ndarray or list
        The solution, shape (n,), or (n, k) if several label columns were given as a list.
        A list (of rows) if numpy is not installed.
    residual_norm : float or list of float
        ``||sqrt(W) (b - A x)||``, one for each label column if these were given as a list.
    rank : int
        Numerical rank of A.
    dead_columns : list of int
        Columns that depend on others, ascending; ``x`` is 0 there.
    report : dict
        Sizes, ordering, flops, backend, seconds and the rest, by the names of the JSON report.
    """

    x: Any
    residual_norm: Any
    rank: int
    dead_columns: list[int]
    report: dict[str, Any]
    _page: str = field(default="", repr=False, compare=False)

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """The report as one self-contained page with pictures, light or dark.

        Parameters
        ----------
        path : str or path, optional
            Where to write it.

        Raises
        ------
        ValueError
            The solve was made without ``profile=True``.
        """
        return _report.to_html(self._page, path)

    def __repr__(self) -> str:
        return (
            f"LeastSquaresResult(rows={self.report['rows']}, columns={self.report['columns']}, "
            f"rank={self.rank}, residual_norm={self.residual_norm})"
        )

    def to_pandas(self) -> "pandas.DataFrame":
        """``x`` with a row for each column of A, a column for each right-hand side."""
        return solution_frame(self.x)

    def _repr_html_(self) -> str:
        return solution_html(self)


def solve(
    df: DataFrame,
    features_col: str = "features",
    label_col: str | Sequence[str] = "label",
    weight_col: str | None = None,
    *,
    ordering: str = "auto",
    backend: str = "auto",
    ridge: float = 0.0,
    rank_tolerance: float | None = None,
    rank_policy: str = "report",
    equilibrate: bool = True,
    minimum_norm: bool = False,
    refinement: int = 0,
    check: bool = False,
    min_rcond: float = 0.0,
    columns: int | None = None,
    executors: int | None = None,
    minimum_executors: int | None = None,
    executor_wait: float | None = None,
    partitions: int | None = None,
    profile: bool = False,
    progress: bool | None = None,
) -> LeastSquaresResult:
    """Solve ``min ||sqrt(W) (b - A x)||^2 + ridge ||x||^2`` exactly, by sparse QR on the executors.

    Also over Spark Connect, with Sparqr's jar on the server or added by ``spark.addArtifacts``.
    No intercept is added: append a column of ones, or use :class:`sparqr.ml.SparseQRRegression`.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        One row of A per row; on a cluster read twice, so cache it if it is costly to compute or differs
        from one reading to the next: different readings are refused.
    features_col : str
        A vector column, sparse or dense: the rows of A.
    label_col : str or sequence of str
        Numeric column(s): b. With a sequence, ``x`` has a column for each.
    weight_col : str, optional
        Numeric column, at least 0. Default: all weights are 1.
    ordering : {"auto", "colamd", "amd", "nd", "natural", "best"}
        Column order.
    backend : {"auto", "cpu", "cuda"}
        "cuda" fails without a device.
    ridge : float
        lambda, at least 0.
    rank_tolerance : float, optional
        A column whose remaining norm is at most this counts as dependent; negative: no rank detection.
        Default ``20 (m + n) eps max ||a_j||``.
    rank_policy : {"report", "fail"}
        "fail": a rank-deficient matrix is an error instead of a basic solution.
    equilibrate : bool
        Scale columns to unit norm first.
    minimum_norm : bool
        If there are several solutions, return the minimum-norm solution instead of a basic one.
    refinement : int
        Steps of iterative refinement at most, each with a pass over the rows; one that does not help is taken back.
    check : bool
        Measure the backward error of x in two more passes: ``report["backwardError"]``, in words ``report["verdict"]``.
    min_rcond : float
        An error if the reciprocal of ``report["conditionEstimate"]`` is below it. Default 0: a warning from a
        condition of 1e7 on, with the columns in ``report["nearlyDependent"]``.
    columns : int, optional
        n, if the vectors' size does not give it.
    executors : int, optional
        Number of workers for which the tree is cut. Default: the current ones.
    minimum_executors : int, optional
        Number of executors to wait for before the tree is cut; requested under dynamic allocation.
    executor_wait : float, optional
        Longest wait for them, in seconds.
    partitions : int, optional
        Reducers of the shuffle that collects the pattern. Default: the partitions of the rows, at most 8 per core.
    profile : bool
        Record the times and places of all work, for :meth:`LeastSquaresResult.to_html`.
    progress : bool, optional
        Show flops done and the remaining time, after the first two seconds: as a bar if tqdm is installed,
        otherwise as lines on standard error. Default: in notebooks and on terminals. Over Spark Connect there
        is only the client's own progress.

    Returns
    -------
    LeastSquaresResult

    Raises
    ------
    SparqrError
        NaN or infinity in the data, a negative weight, an index out of range, data that changed
        between their two readings, no CUDA device, no memory, a JVM that died, ...
    ValueError
        An ordering, backend or rank policy that does not exist.
    RuntimeError
        Sparqr's jar is missing.
    KeyboardInterrupt
        After Ctrl-C, within five seconds: the jobs are cancelled, the session stays usable.
    TypeError
        Not a Spark DataFrame, an unknown option, a flag other than True and False, a fraction instead of a count.
    """
    settings = solver_settings(
        ordering=ordering,
        backend=backend,
        ridge=ridge,
        rank_tolerance=rank_tolerance,
        rank_policy=rank_policy,
        equilibrate=equilibrate,
        minimum_norm=minimum_norm,
        refinement=refinement,
        check=check,
        min_rcond=min_rcond,
        columns=columns,
        executors=executors,
        minimum_executors=minimum_executors,
        executor_wait=executor_wait,
        partitions=partitions,
        profile=profile,
    )
    shows = _progress.wanted(progress)
    several = not isinstance(label_col, str)
    names = [label_col] if isinstance(label_col, str) else list(label_col)
    if not names:
        raise ValueError("label_col names no column")
    jdf = require_frame(df)
    columns_of = (features_col, weight_col or "", names)
    words = {"ordering": ordering.lower(), "backend": backend.lower(), "rankPolicy": rank_policy.lower()}

    def work() -> tuple[dict[str, Any], list[Any], str]:
        if jdf is None:
            return _connect.solve(df, columns_of, {**words, **settings.options})
        jvm: Any = df.sparkSession._jvm
        with _progress.showing(jvm, shows) as shown:
            solver = solver_builder(jvm, settings, shown and shown.listener).build()
            return _solved(jvm, solver, jdf, *columns_of)

    report, vectors, page = in_thread(df.sparkSession, "sparqr.solve", work)
    norms = report["residualNorm"]
    norms = norms if isinstance(norms, list) else [norms]
    return LeastSquaresResult(
        x=side_by_side(vectors) if several else vectors[0],
        residual_norm=norms if several else norms[0],
        rank=report["rank"],
        dead_columns=report["deadColumns"],
        report=report,
        _page=page,
    )


@dataclass(frozen=True)
class Settings:
    """The checked options of a solver, by their names in Java."""

    method: str
    choice: str
    policy: str
    options: dict[str, Any]


def solver_settings(
    *,
    ordering: str = "auto",
    backend: str = "auto",
    ridge: float = 0.0,
    rank_tolerance: float | None = None,
    rank_policy: str = "report",
    equilibrate: bool = True,
    minimum_norm: bool = False,
    refinement: int = 0,
    check: bool = False,
    min_rcond: float = 0.0,
    columns: int | None = None,
    executors: int | None = None,
    minimum_executors: int | None = None,
    executor_wait: float | None = None,
    partitions: int | None = None,
    profile: bool = False,
) -> Settings:
    """The options of :func:`solve`, checked; raises its errors."""
    method = _named(ordering, _ORDERINGS, "ordering")
    choice = _named(backend, _BACKENDS, "backend")
    policy = _named(rank_policy, _RANK_POLICIES, "rank_policy")
    counts = {
        "columns": columns,
        "executors": executors,
        "partitions": partitions,
        "minimumExecutors": minimum_executors,
    }
    numbers = {"rankTolerance": rank_tolerance, "executorWait": executor_wait}
    options: dict[str, Any] = {
        "ridge": float(ridge),
        "refinement": index(refinement),
        "equilibrate": _flag(equilibrate, "equilibrate"),
        "minimumNorm": _flag(minimum_norm, "minimum_norm"),
        "check": _flag(check, "check"),
        "minRcond": float(min_rcond),
        "profile": _flag(profile, "profile"),
        **{name: index(value) for name, value in counts.items() if value is not None},
        **{name: float(value) for name, value in numbers.items() if value is not None},
    }
    return Settings(method, choice, policy, options)


def solver_builder(jvm: Any, settings: Settings, listener: Any = None) -> Any:
    """A solver builder in the JVM with these settings, and with a progress listener if given."""
    builder = java_class(jvm, "io.sparqr.spark.GpuSparseQR").builder()
    builder.ordering(getattr(java_class(jvm, "io.sparqr.ordering.OrderingMethod"), settings.method))
    builder.backend(getattr(java_class(jvm, "io.sparqr.backend.BackendChoice"), settings.choice))
    builder.rankPolicy(getattr(java_class(jvm, "io.sparqr.spark.model.RankPolicy"), settings.policy))
    for name, value in settings.options.items():
        getattr(builder, name)(value)
    return builder if listener is None else builder.listener(listener)


def _solved(
    jvm: Any, solver: Any, jdf: Any, features: str, weight: str, labels: list[str]
) -> tuple[dict[str, Any], list[Any], str]:
    """The report, a solution for each label column, and the page if there is a profile."""
    names = jvm.java.util.ArrayList()
    for name in labels:
        names.add(name)
    support = java_class(jvm, "io.sparqr.spark.python.PythonSupport")
    solution = solver.solve(jdf, features, weight, support.array(names))
    report = json.loads(solution.report().toJson())
    vectors = [doubles(jvm, solution.x(k)) for k in range(len(labels))]
    return report, vectors, _report.page_of(jvm, solution.report())


def _flag(value: bool, what: str) -> bool:
    if value not in (True, False):
        raise TypeError(f"{what} {value!r} is neither True nor False")
    return bool(value)


def _named(name: str, names: dict[str, str], what: str) -> str:
    """Java's name for an option's value, which may be written in any case."""
    found = names.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"{what} {name!r} is none of {', '.join(names)}")
    return found
