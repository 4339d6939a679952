# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Estimates the cost of a factorization in advance."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, Optional, Sequence

from sparqr import _connect_arrays
from sparqr._arrays import active_session
from sparqr._calls import in_thread
from sparqr._display import html_table, lasting, sized, with_unit
from sparqr._jvm import java_class
from sparqr._rows import Rows, problem_of
from sparqr._solve import solver_settings

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import SparkSession

_FLOPS = ("flops", "kflop", "Mflop", "Gflop", "Tflop", "Pflop", "Eflop")
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


@dataclass(frozen=True)
class Cut:
    """The tree cut for one number of executors.

    Attributes
    ----------
    executors : int
        Number of executors.
    levels : int
        Levels of tasks, executed one after the other.
    tasks : int
        Tasks of all levels together.
    seconds : float
        Estimated time of the executors: of the factorization and, on CPUs, of reading and
        combining the rows. The driver's analysis is not in it. Trust the ratios rather than the
        seconds: the rate is an assumption.
    lower_bound_seconds : float
        Lower bound on the seconds of any cut.
    speedup : float
        ``seconds`` with one executor, divided by ``seconds`` here.
    task_bytes : int
        Peak memory of a task.
    shuffle_bytes : int
        Contribution blocks sent from one executor to another.
    """

    executors: int
    levels: int
    tasks: int
    seconds: float
    lower_bound_seconds: float
    speedup: float
    task_bytes: int
    shuffle_bytes: int


@dataclass(frozen=True, repr=False)
class Analysis:
    """Result of :func:`analyze`.

    Attributes
    ----------
    rows, columns, nonzeros : int
        Size of A.
    singletons : int
        Columns eliminated without any arithmetic.
    ordering : str
        The column order, as a value of the option ``ordering``.
    ordering_reason : str
        Why this order was chosen.
    nonzeros_of_r : float
        Entries of R at full rank.
    flops : float
        Floating-point operations of the factorization.
    critical_path_flops : float
        Flops that must be done one after another, however many executors there are.
    fronts : int
        Nodes of the assembly tree.
    height : int
        Height of the assembly tree.
    largest_front : tuple of int
        Rows and columns of the front with the most entries.
    peak_bytes : int
        Peak memory of the fronts when a single task does everything, without R.
    histogram : list of dict
        ``fromColumns``, ``toColumns``, ``fronts``, ``flops``: fronts by size, smallest first.
    cuts : list of Cut
        One for each number of executors.
    advice : dict
        Whether to factor it, for the first number of executors: ``take`` is ``"qr"``, ``"lsqr"``, ``"normal"`` (MLlib's
        normal equations) or ``"absorb"`` (effects), ``reason`` says why, ``ways`` has predicted seconds, bytes and the
        condition up to which each serves.
    """

    rows: int
    columns: int
    nonzeros: int
    singletons: int
    ordering: str
    ordering_reason: str
    nonzeros_of_r: float
    flops: float
    critical_path_flops: float
    fronts: int
    height: int
    largest_front: tuple[int, int]
    peak_bytes: int
    histogram: list[dict[str, Any]]
    cuts: list[Cut]
    advice: dict[str, Any]

    def to_pandas(self) -> pandas.DataFrame:
        """:attr:`cuts` as a table: a row for each number of executors, which is the index."""
        import pandas

        return pandas.DataFrame([vars(cut) for cut in self.cuts]).set_index("executors")

    def __repr__(self) -> str:
        return (
            f"Analysis(rows={self.rows:,}, columns={self.columns:,}, R of {sized(12 * self.nonzeros_of_r)}, "
            f"{with_unit(self.flops, _FLOPS)}, fronts of {sized(self.peak_bytes)}, ordering={self.ordering!r}, "
            f"advice={self.advice['take']!r})"
        )

    def __str__(self) -> str:
        head, notes, names, rows = self._told()
        table = [names, *rows]
        widths = [max(len(row[k]) for row in table) for k in range(len(names))]
        lines = ["  ".join(value.rjust(width) for value, width in zip(row, widths)) for row in table]
        return "\n".join([head, *notes, "", *lines])

    def _told(self) -> tuple[str, list[str], list[str], list[list[str]]]:
        """Caption, notes, and the cuts as a table, in units for people."""
        share = self.critical_path_flops / max(self.flops, 1)
        notes = [
            f"R: {self.nonzeros_of_r:,.0f} nonzeros, about {sized(12 * self.nonzeros_of_r)}; work: "
            f"{with_unit(self.flops, _FLOPS)}, {share:.0%} on the critical path",
            f"memory of the fronts in a single task: {sized(self.peak_bytes)}",
            f"{self.fronts:,} fronts, the largest {self.largest_front[0]:,} x {self.largest_front[1]:,}; "
            f"order: {self.ordering} ({self.ordering_reason})",
            f"advice: {self.advice['take']}: {self.advice['reason']}",
        ]
        names = ["executors", "levels", "tasks", "time", "at least", "speedup", "memory of a task", "shuffle"]
        rows = [
            [
                f"{c.executors:,}",
                f"{c.levels:,}",
                f"{c.tasks:,}",
                lasting(c.seconds),
                lasting(c.lower_bound_seconds),
                f"{c.speedup:.2g}",
                sized(c.task_bytes),
                sized(c.shuffle_bytes),
            ]
            for c in self.cuts
        ]
        return f"{self.rows:,} x {self.columns:,}, {self.nonzeros:,} nonzeros", notes, names, rows

    def _repr_html_(self) -> str:
        head, notes, names, rows = self._told()
        return html_table(head, names, rows, notes)


def analyze(
    A: Any,
    *,
    executors: Sequence[int] = (1, 2, 4, 8, 16),
    ordering: str = "auto",
    memory: Optional[str] = None,
    flops_per_second: Optional[float] = None,
    gpu: bool = False,
    partitions: int = 0,
    session: Optional[SparkSession] = None,
) -> Analysis:
    """Estimate what a factorization of A would cost on clusters of several sizes, without factorizing.

    Parameters
    ----------
    A : sparse matrix or array, array_like, table or path
        Shape (m, n), as for :func:`sparqr.lstsq`. The values do not matter as long as they are finite.
    executors : sequence of int
        Numbers of executors, at least 1 each.
    ordering : {"auto", "colamd", "amd", "nd", "natural", "best"}
        Column order.
    memory : str, optional
        Heap of an executor in Spark's notation: ``"8g"``. Default: the driver's. Cuts are chosen so
        that tasks fit if possible.
    flops_per_second : float, optional
        Rate of one executor on large fronts, for the estimated seconds. Default: the rate that
        ``sparqr analyze`` on the command line uses and prints.
    gpu : bool
        Assume a GPU like an H200 for each executor, with its rates and memory.
    partitions : int
        Default: the number of Spark's cores.
    session : pyspark.sql.SparkSession, optional
        Default: the active one, or a new one by ``sparqr.session()``.

    Returns
    -------
    Analysis

    Raises
    ------
    ValueError
        executors empty or below 1, an invalid memory or ordering, a rate that is not positive; gpu
        together with a memory or a rate.
    SparqrError, FileNotFoundError
        As for :func:`sparqr.lstsq`.

    Notes
    -----
    One pass over the rows finds the distinct row patterns; ordering and analysis run on the driver.

    Examples
    --------
    >>> sparqr.analyze(A, executors=[4, 8], memory="16g").to_pandas()  # doctest: +SKIP
    """
    counts = [index(count) for count in executors]
    if not counts or min(counts) < 1:
        raise ValueError(f"executors {counts} are not numbers from 1 on")
    if gpu and (memory is not None or flops_per_second is not None):
        raise ValueError("gpu has a memory and a rate of its own: leave out memory and flops_per_second")
    rate = 0.0 if flops_per_second is None else float(flops_per_second)
    if flops_per_second is not None and not 0 < rate < float("inf"):
        raise ValueError(f"flops_per_second {flops_per_second!r} is not positive")
    heap = 0 if memory is None else _bytes(memory)
    order = solver_settings(ordering=ordering)["ordering"]
    problem = problem_of(A, None, None)
    remote = _connect_arrays.remote(session)
    if remote is not None:
        _connect_arrays.require_arrays(problem)
        words = {
            "ordering": order,
            "executors": ",".join(map(str, counts)),
            "gpu": bool(gpu),
            "flopsPerSecond": rate,
            "memory": heap,
            "partitions": index(partitions),
        }
        return _analysis(json.loads(_connect_arrays.ask(remote, "analyze", {}, words, A=problem)["analysis"]))
    spark = session or active_session()

    def work() -> str:
        jvm: Any = spark._jvm
        java = java_class(jvm, "io.sparqr.spark.python.PythonAnalysis")
        like = java.gpu() if gpu else java.cpu(rate, heap)
        rows = Rows(spark, problem, partitions)
        try:
            return java.analyze(rows.jrdd, order, like, counts)
        finally:
            rows.close()

    return _analysis(json.loads(in_thread(spark, "sparqr.analyze", work)))


def _bytes(memory: str) -> int:
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", str(memory).strip().lower())
    if not found or int(found[1]) == 0:
        raise ValueError(f'memory {memory!r} is not a size such as "8g"')
    return int(found[1]) << _UNITS[found[2]]


def _analysis(found: dict[str, Any]) -> Analysis:
    summary = found["summary"]
    return Analysis(
        rows=summary["rows"],
        columns=summary["columns"],
        nonzeros=summary["nonzeros"],
        singletons=summary["singletons"],
        ordering={"NESTED_DISSECTION": "nd"}.get(summary["ordering"], summary["ordering"].lower()),
        ordering_reason=summary["orderingReason"],
        nonzeros_of_r=summary["nonzerosOfR"],
        flops=summary["flops"],
        critical_path_flops=summary["criticalPathFlops"],
        fronts=summary["fronts"],
        height=summary["height"],
        largest_front=(summary["largestRows"], summary["largestColumns"]),
        peak_bytes=summary["peakBytes"],
        histogram=summary["histogram"],
        cuts=[
            Cut(
                executors=line["workers"],
                levels=line["levels"],
                tasks=line["tasks"],
                seconds=line["seconds"],
                lower_bound_seconds=line["lowerBoundSeconds"],
                speedup=line["speedup"],
                task_bytes=line["peakBytes"],
                shuffle_bytes=line["shuffleBytes"],
            )
            for line in found["cuts"]
        ],
        advice=found["advice"],
    )
