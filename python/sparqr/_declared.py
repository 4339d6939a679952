# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Options, as Java declares them in SolveOption and RegressionOption: tests there write these tables and compare them."""

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
    "method": Option(
        "method",
        ("auto", "householder"),
        "auto",
        "how fronts are factored",
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

# by the params of sparqr.ml.SparseQRRegression, which has options of its solver besides
REGRESSION = {
    "formula": Option(
        "formula",
        str,
        None,
        "R's formula for response and terms and, after a bar, absorbed effects: log_wage ~ age + a:b + factor(year) + offset(z) | worker + firm",
    ),
    "weightCol": Option(
        "weightCol",
        str,
        None,
        "column of the rows' weights, each at least 0",
    ),
    "categoricalCols": Option(
        "categoricalCols",
        list,
        None,
        "columns that are factors whatever their type, such as numbers that are codes",
    ),
    "referenceLevels": Option(
        "referenceLevels",
        list,
        None,
        "reference levels of factors, each as column=level",
    ),
    "handleInvalid": Option(
        "handleInvalid",
        ("error", "skip", "keep"),
        "error",
        "what to do with rows that lack a value (skip leaves them out as R does, keep makes missing a level of its own)",
    ),
    "vcov": Option(
        "vcov",
        ("iid", "HC0", "HC1", "HC2", "HC3", "cluster"),
        None,
        "standard errors (iid for equal variances, HC0 to HC3 for any variances, cluster for errors correlated within clusters)",
    ),
    "clusterCols": Option(
        "clusterCols",
        list,
        None,
        "one or two columns of clusters, within which errors may be correlated",
    ),
    "clusterCorrection": Option(
        "clusterCorrection",
        ("fixest", "sandwich", "none"),
        "fixest",
        "small-sample correction of clustered errors (fixest takes t with clusters - 1 degrees of freedom, sandwich is that of R's vcovCL)",
    ),
    "computeStandardErrors": Option(
        "computeStandardErrors",
        bool,
        True,
        "compute standard errors, which may cost as much as the fit",
    ),
    "keepTerms": Option(
        "keepTerms",
        list,
        None,
        "names of coefficients to keep if columns depend on each other, in order of priority",
    ),
    "dropTerms": Option(
        "dropTerms",
        list,
        None,
        "names of coefficients to drop first if columns depend on each other; of the others later ones are dropped first, as in R's lm",
    ),
    "fitIntercept": Option(
        "fitIntercept",
        bool,
        True,
        "fit an intercept, which is never penalized; a formula decides that itself",
    ),
    "regParam": Option(
        "regParam",
        float,
        0.0,
        "ridge parameter, at least 0, of 1/(2W) sum w (y - x'b - c)^2 + regParam/2 ||b||^2, W being the sum of the weights",
    ),
    "offsetCol": Option(
        "offsetCol",
        str,
        None,
        "column that is subtracted from the label and added to predictions",
    ),
    "idCol": Option(
        "idCol",
        str,
        None,
        "column whose value identifies a rejected row in the error message",
    ),
}

# keywords of sparqr.feols and the params that they are
FEOLS = {
    "formula": "formula",
    "weights": "weightCol",
    "categorical": "categoricalCols",
    "reference_levels": "referenceLevels",
    "vcov": "vcov",
    "cluster_correction": "clusterCorrection",
    "keep_terms": "keepTerms",
    "drop_terms": "dropTerms",
}

# keywords of sparqr.feols and what they were called earlier, which is accepted until 1.0
FORMER = {
    "reference_levels": ("references",),
    "keep_terms": ("keep",),
    "drop_terms": ("drop",),
}
