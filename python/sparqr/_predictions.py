# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Predictions of a fit for new rows, with their errors and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparqr._hypotheses import student_quantile
from sparqr._jvm import doubles, java_class
from sparqr._rows import Problem, Rows, problem_of

if TYPE_CHECKING:
    import numpy
    import pandas
    from pyspark.sql import SparkSession

INTERVALS = ("confidence", "prediction")


def checked(interval: str, alpha: float) -> float:
    """The level of an interval, 1 - alpha; ValueError for a wrong name or alpha."""
    if interval not in INTERVALS:
        raise ValueError(f"interval {interval!r} is none of {', '.join(INTERVALS)}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha {alpha} is not within (0, 1)")
    return 1 - float(alpha)


@dataclass(frozen=True, repr=False)
class Predictions:
    """Predictions a'x of a fit for new rows a; the classical errors, for errors of equal variances.

    Attributes
    ----------
    fit : numpy.ndarray
        a'x, shape (rows,), or (rows, k) if b was two-dimensional; NaN where a'x is not the same for all least-squares
        solutions, so that the data do not determine it.
    standard_errors : numpy.ndarray
        Of the mean at each row, ``sigma sqrt(a' (A'WA)^-1 a)``, in the same shape.
    observation_errors : numpy.ndarray
        Of an observation at each row: the root of that squared plus sigma^2 over the row's weight.
    degrees_of_freedom : int
        Rows of the fit less its rank.
    """

    fit: numpy.ndarray
    standard_errors: numpy.ndarray
    observation_errors: numpy.ndarray
    degrees_of_freedom: int

    def interval(self, interval: str = "prediction", alpha: float = 0.05) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Lower and upper ends, each in the shape of ``fit``, by Student's t.

        Parameters
        ----------
        interval : {"prediction", "confidence"}
            That of an observation, or of the mean.
        alpha : float
            Within (0, 1): the level is 1 - alpha.
        """
        level = checked(interval, alpha)
        errors = self.standard_errors if interval == "confidence" else self.observation_errors
        half = student_quantile(level, self.degrees_of_freedom) * errors
        return self.fit - half, self.fit + half

    def to_pandas(self, interval: str = "prediction", alpha: float = 0.05) -> pandas.DataFrame:
        """Table of fit, se_fit, ci_low and ci_high, in pyfixest's words; one right-hand side alone."""
        import pandas

        if self.fit.ndim != 1:
            raise ValueError(f"{self.fit.shape[1]} right-hand sides: a table is of one")
        low, high = self.interval(interval, alpha)
        return pandas.DataFrame({"fit": self.fit, "se_fit": self.standard_errors, "ci_low": low, "ci_high": high})

    def __repr__(self) -> str:
        return f"Predictions(rows={len(self.fit)}, degrees_of_freedom={self.degrees_of_freedom})"


def predictions(spark: SparkSession, factorization: Any, new: Any, weights: Any, several: bool) -> Predictions:
    """Predictions of a factorization with its right-hand sides, by triangular solves with R.

    Parameters
    ----------
    factorization : object
        Java's QRFactorization.
    new : sparse matrix or array, array_like or table
        The rows, of as many columns.
    weights : array_like or None
        Of the observations to predict.
    several : bool
        Whether b was two-dimensional.
    """
    matrix = factorization.summary().matrix()
    problem = new_rows(new, weights, matrix.columns())
    rows = Rows(spark, problem, 1)
    try:
        support = java_class(spark._jvm, "io.sparqr.spark.python.PythonSupport")
        told = doubles(spark._jvm, support.predictions(factorization, rows.jrdd.collect()))
    finally:
        rows.close()
    return predicted(told, matrix.rhs(), several, int(matrix.rows()) - factorization.rank())


def new_rows(new: Any, weights: Any, columns: int) -> Problem:
    """New rows, checked; ValueError for another number of columns than A's or a weight of 0."""
    problem = problem_of(new, None, weights)
    asked, _ = problem.arrays()
    if asked.shape[1] != columns:
        raise ValueError(f"the new rows have {asked.shape[1]:,} columns, A has {columns:,}")
    if problem.weights is not None and not problem.weights.all():
        raise ValueError("an observation to predict has the weight 0")
    return problem


def predicted(told: numpy.ndarray, rhs: int, several: bool, freedom: int) -> Predictions:
    """The numbers of Java's ``PythonSupport.predictions`` as predictions."""
    parts = told.reshape(rhs, 3, -1)
    fit, mean, observation = (parts[:, k].T if several else parts[0, k] for k in range(3))
    return Predictions(fit, mean, observation, freedom)
