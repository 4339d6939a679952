# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The options of a solver, as Java declares them in SolveOption: a test there writes the table and compares it."""

from __future__ import annotations

from operator import index
from typing import Any, NamedTuple


class Option(NamedTuple):
    """An option: its name in Java, type or words of its values, default, and meaning."""

    java: str
    values: Any
    default: Any
    meaning: str

    def checked(self, value: Any, name: str) -> Any:
        """The value in the type that Java takes, under the name that the caller knows; ranges are checked there.

        Raises
        ------
        ValueError
            Not one of the words.
        TypeError
            Not of the type.
        """
        if isinstance(self.values, tuple):
            word = value.lower() if isinstance(value, str) else None
            if word not in self.values:
                raise ValueError(f"{name} {value!r} is none of {', '.join(self.values)}")
            return word
        if self.values is bool:
            if value not in (True, False):
                raise TypeError(f"{name} {value!r} is neither True nor False")
            return bool(value)
        return index(value) if self.values is int else float(value)


# by the keywords of sparqr.solve
OPTIONS = {
    "ordering": Option(
        "ordering",
        ("auto", "colamd", "amd", "nd", "natural", "best"),
        "auto",
        "column order",
    ),
    "backend": Option(
        "backend",
        ("auto", "cpu", "cuda"),
        "auto",
        "what computes (cuda fails where there is no device)",
    ),
    "ridge": Option(
        "ridge",
        float,
        0.0,
        "lambda of the penalty lambda ||x||^2",
    ),
    "equilibrate": Option(
        "equilibrate",
        bool,
        True,
        "scale columns to unit 2-norm first",
    ),
    "rank_tolerance": Option(
        "rankTolerance",
        float,
        None,
        "a column whose remaining norm, after scaling, is at most this counts as dependent (R's lm: 1e-7); negative: no rank detection",
    ),
    "rank_policy": Option(
        "rankPolicy",
        ("report", "fail"),
        "report",
        "what a rank-deficient matrix gets: a basic solution (report) or an error (fail)",
    ),
    "refinement": Option(
        "refinement",
        int,
        0,
        "steps of iterative refinement at most, each with a pass over the rows; one that does not help is taken back",
    ),
    "minimum_norm": Option(
        "minimumNorm",
        bool,
        False,
        "return, of several solutions, the one of least 2-norm instead of a basic one",
    ),
    "check": Option(
        "check",
        bool,
        False,
        "measure the backward error of x by two more passes over the rows: the report's backwardError, in words its verdict",
    ),
    "min_rcond": Option(
        "minRcond",
        float,
        0.0,
        "an error if the reciprocal of the report's conditionEstimate is below this; at 0 a warning from a condition of 1e7 on, with the columns in nearlyDependent",
    ),
    "columns": Option(
        "columns",
        int,
        None,
        "number of columns, if trailing columns are empty",
    ),
    "executors": Option(
        "executors",
        int,
        None,
        "number of workers to cut the tree for",
    ),
    "minimum_executors": Option(
        "minimumExecutors",
        int,
        None,
        "number of executors to wait for before the tree is cut; under dynamic allocation they are also requested",
    ),
    "executor_wait": Option(
        "executorWait",
        float,
        None,
        "longest wait for the minimum of executors, in seconds",
    ),
    "partitions": Option(
        "partitions",
        int,
        None,
        "reducers of the pattern's shuffle; of a matrix or file also the partitions of its rows",
    ),
    "profile": Option(
        "profile",
        bool,
        False,
        "record time and place of all work, for the report's page",
    ),
}
