# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Least squares from a DataFrame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

from sparqr import _connect, _progress, _report
from sparqr._calls import in_thread
from sparqr._declared import OPTIONS
from sparqr._display import solution_frame, solution_html
from sparqr._frame import require_frame
from sparqr._jvm import doubles, java_class, side_by_side

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import DataFrame


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
        """``x`` with a row for each column of A, a column for each right-hand side; of :func:`lstsq` with A's names
        and, if they were requested, the standard errors."""
        return solution_frame(self)

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
    method: str = "auto",
    ridge: float = 0.0,
    equilibrate: bool = True,
    rank_tolerance: float | None = None,
    rank_policy: str = "report",
    refinement: int = 0,
    minimum_norm: bool = False,
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
        What computes (cuda fails where there is no device).
    method : {"auto", "householder"}
        How fronts are factored.
    ridge : float
        Lambda of the penalty lambda ||x||^2.
    equilibrate : bool
        Scale columns to unit 2-norm first.
    rank_tolerance : float, optional
        A column whose remaining norm, after scaling, is at most this counts as dependent (R's lm: 1e-7); negative: no
        rank detection. Default: 20 (m+n) eps max ||a_j||.
    rank_policy : {"report", "fail"}
        What a rank-deficient matrix gets: a basic solution (report) or an error (fail).
    refinement : int
        Steps of iterative refinement at most, each with a pass over the rows; one that does not help is taken back.
    minimum_norm : bool
        Return, of several solutions, the one of least 2-norm instead of a basic one.
    check : bool
        Measure the backward error of x by two more passes over the rows: the report's ``backwardError``, in words its
        ``verdict``.
    min_rcond : float
        An error if the reciprocal of the report's ``conditionEstimate`` is below this; at 0 a warning from a condition
        of 1e7 on, with the columns in ``nearlyDependent``.
    columns : int, optional
        Number of columns, if trailing columns are empty. Default: from the rows.
    executors : int, optional
        Number of workers to cut the tree for. Default: as many as pay of the executors present, or of their GPUs if
        the problem goes to GPUs (local: one, or of the devices).
    minimum_executors : int, optional
        Number of executors to wait for before the tree is cut; under dynamic allocation they are also requested.
        Default: by ``spark.scheduler.minRegisteredResourcesRatio``.
    executor_wait : float, optional
        Longest wait for the minimum of executors, in seconds. Default:
        ``spark.scheduler.maxRegisteredResourcesWaitingTime``.
    partitions : int, optional
        Reducers of the pattern's shuffle; of a matrix or file also the partitions of its rows. Default: those of the
        rows, at most 8 a core.
    profile : bool
        Record time and place of all work, for the report's page.
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
        A column, ordering, backend or rank policy that does not exist.
    RuntimeError
        Sparqr's jar is missing.
    KeyboardInterrupt
        After Ctrl-C, within five seconds: the jobs are cancelled, the session stays usable.
    TypeError
        Not a Spark DataFrame, an unknown option, a flag other than True and False, a fraction instead of a count.
    """
    given = dict(locals())
    settings = solver_settings(**{name: given[name] for name in OPTIONS})
    shows = _progress.wanted(progress)
    several = not isinstance(label_col, str)
    names = [label_col] if isinstance(label_col, str) else list(label_col)
    if not names:
        raise ValueError("label_col names no column")
    jdf = require_frame(df)
    columns_of = (features_col, weight_col or "", names)

    def work() -> tuple[dict[str, Any], list[Any], str]:
        _require_columns(df.columns, [features_col, *names, *([] if weight_col is None else [weight_col])])
        if jdf is None:
            return _connect.solve(df, columns_of, settings)
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


def _require_columns(there: list[str], asked: list[str]) -> None:
    """ValueError for a column that is missing under any spelling; fields of structs are left to Spark."""
    known = {name.casefold() for name in there}
    for name in asked:
        if not isinstance(name, str):
            raise TypeError(f"{name!r} is no name of a column")
        if name.casefold() not in known and not re.search(r"[.`\[]", name):
            raise ValueError(f"no column {name}; there are {', '.join(there)}")


def solver_settings(**options: Any) -> dict[str, Any]:
    """The options of :func:`solve`, checked, by their names in Java; raises its errors."""
    for name in options:
        if name not in OPTIONS:
            raise TypeError(f"solve has no option {name!r}")
    return {
        option.java: option.checked(options.get(name, option.default), name)
        for name, option in OPTIONS.items()
        if not (option.default is None and options.get(name) is None)
    }


def solver_builder(jvm: Any, settings: dict[str, Any], listener: Any = None) -> Any:
    """A solver builder in the JVM with these settings, and with a progress listener if given."""
    words = jvm.java.util.ArrayList()
    for word in _connect.option_words(settings):
        words.add(word)
    builder = java_class(jvm, "io.sparqr.spark.python.PythonSupport").builder(words)
    return builder if listener is None else builder.listener(listener)


def _solved(
    jvm: Any, solver: Any, jdf: Any, features: str, weight: str, labels: list[str]
) -> tuple[dict[str, Any], list[Any], str]:
    """The report, a solution for each label column, and the page if there is a profile."""
    names = jvm.java.util.ArrayList()
    for name in labels:
        names.add(name)
    support = java_class(jvm, "io.sparqr.spark.python.PythonSupport")
    solution = solver.solve(jdf, support.columns(features, weight, names))
    report = _report.read(solution.report().toJson())
    vectors = [doubles(jvm, solution.x(k)) for k in range(len(labels))]
    return report, vectors, _report.page_of(jvm, solution.report())
