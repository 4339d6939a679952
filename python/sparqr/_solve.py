# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Least squares from a DataFrame."""

import json
from dataclasses import dataclass
from operator import index
from typing import Any, Dict, List

from sparqr import _connect
from sparqr._calls import in_thread
from sparqr._frame import require_frame
from sparqr._jvm import doubles, java_class, side_by_side

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
    """What :func:`solve` returns.

    Attributes
    ----------
    x : numpy.ndarray or list
        The solution, shape (n,), or (n, k) if several label columns were given as a list.
        A list (of rows) where numpy is not installed.
    residual_norm : float or list of float
        ``||sqrt(W) (b - A x)||``, one for each label column if they were given as a list.
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
    dead_columns: List[int]
    report: Dict[str, Any]

    def __repr__(self):
        return (
            f"LeastSquaresResult(rows={self.report['rows']}, columns={self.report['columns']}, "
            f"rank={self.rank}, residual_norm={self.residual_norm})"
        )


def solve(
    df,
    features_col="features",
    label_col="label",
    weight_col=None,
    *,
    ordering="auto",
    backend="auto",
    ridge=0.0,
    rank_tolerance=None,
    rank_policy="report",
    equilibrate=True,
    minimum_norm=False,
    refinement=0,
    check=False,
    columns=None,
    executors=None,
    minimum_executors=None,
    executor_wait=None,
    partitions=None,
):
    """Solve ``min ||sqrt(W) (b - A x)||^2 + ridge ||x||^2`` exactly, by sparse QR on the executors.

    Over Spark Connect, too: Sparqr's jar is the server's, or the session's by ``spark.addArtifacts``.
    No intercept is added: append a column of ones, or use :class:`sparqr.ml.SparseQRRegression`.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        A row of A an entry; read twice, so cache it if it is costly to compute or not the same
        every time: readings that differ are refused.
    features_col : str
        A vector column, sparse or dense: the rows of A.
    label_col : str or sequence of str
        Numeric column(s): b. With a sequence, ``x`` has a column for each.
    weight_col : str, optional
        Numeric column, at least 0. Default: all weights are 1.
    ordering : {"auto", "colamd", "amd", "nd", "natural", "best"}
        Column order.
    backend : {"auto", "cpu", "cuda"}
        "cuda" fails where there is no device.
    ridge : float
        lambda, at least 0.
    rank_tolerance : float, optional
        A column whose remaining norm is at most this is dead; negative: no rank detection.
        Default ``20 (m + n) eps max ||a_j||``.
    rank_policy : {"report", "fail"}
        "fail": a rank-deficient matrix is an error instead of a basic solution.
    equilibrate : bool
        Scale columns to unit norm first.
    minimum_norm : bool
        Of several solutions the one of least norm instead of a basic one.
    refinement : int
        Steps of iterative refinement, a pass over the rows each.
    check : bool
        Measure ``||A'(b - A x)||`` by one more pass: ``report["normalResidual"]``.
    columns : int, optional
        n, where the vectors' size does not tell it.
    executors : int, optional
        Workers that the tree is cut for. Default: those that are there.
    minimum_executors : int, optional
        Executors that are waited for before the tree is cut; asked for under dynamic allocation.
    executor_wait : float, optional
        Seconds that they are waited for at most.
    partitions : int, optional
        Reducers of the shuffle that collects the pattern. Default: those of the rows, at most 8 a core.

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
        By Ctrl-C, after at most five seconds: the jobs are cancelled, the session goes on.
    TypeError
        No Spark DataFrame, an option that does not exist, a flag that is neither True
        nor False, a fraction where a count belongs.
    """
    method = _named(ordering, _ORDERINGS, "ordering")
    choice = _named(backend, _BACKENDS, "backend")
    policy = _named(rank_policy, _RANK_POLICIES, "rank_policy")
    flags = {
        "equilibrate": _flag(equilibrate, "equilibrate"),
        "minimumNorm": _flag(minimum_norm, "minimum_norm"),
        "check": _flag(check, "check"),
    }
    given = {"columns": columns, "executors": executors, "partitions": partitions}
    counts = {name: index(value) for name, value in given.items() if value is not None}
    counts["refinement"] = index(refinement)
    if minimum_executors is not None:
        counts["minimumExecutors"] = index(minimum_executors)
    several = not isinstance(label_col, str)
    names = list(label_col) if several else [label_col]
    if not names:
        raise ValueError("label_col names no column")
    jdf = require_frame(df)
    options = {
        "ridge": float(ridge),
        **({} if rank_tolerance is None else {"rankTolerance": float(rank_tolerance)}),
        **({} if executor_wait is None else {"executorWait": float(executor_wait)}),
        **flags,
        **counts,
    }
    columns_of = (features_col, weight_col or "", names)

    words = {"ordering": ordering, "backend": backend, "rankPolicy": rank_policy}

    def work():
        if jdf is None:
            return _connect.solve(df, columns_of, {**words, **options})
        jvm = df.sparkSession._jvm
        builder = java_class(jvm, "io.sparqr.spark.GpuSparseQR").builder()
        builder.ordering(getattr(java_class(jvm, "io.sparqr.ordering.OrderingMethod"), method))
        builder.backend(getattr(java_class(jvm, "io.sparqr.backend.BackendChoice"), choice))
        builder.rankPolicy(getattr(java_class(jvm, "io.sparqr.spark.RankPolicy"), policy))
        for name, value in options.items():
            getattr(builder, name)(value)
        return _solved(jvm, builder.build(), jdf, *columns_of)

    report, vectors = in_thread(df.sparkSession, "sparqr.solve", work)
    norms = report["residualNorm"]
    norms = norms if isinstance(norms, list) else [norms]
    return LeastSquaresResult(
        x=side_by_side(vectors) if several else vectors[0],
        residual_norm=norms if several else norms[0],
        rank=report["rank"],
        dead_columns=report["deadColumns"],
        report=report,
    )


def _solved(jvm, solver, jdf, features, weight, labels):
    """The report and a solution for each label column."""
    names = jvm.java.util.ArrayList()
    for name in labels:
        names.add(name)
    support = java_class(jvm, "io.sparqr.spark.python.PythonSupport")
    solution = solver.solve(jdf, features, weight, support.array(names))
    report = json.loads(solution.report().toJson())
    return report, [doubles(jvm, solution.x(k)) for k in range(len(labels))]


def _flag(value, what):
    if value not in (True, False):
        raise TypeError(f"{what} {value!r} is neither True nor False")
    return bool(value)


def _named(name, names, what):
    if name not in names:
        raise ValueError(f"{what} {name!r} is none of {', '.join(names)}")
    return names[name]
