# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Statistics of a fit, from a local JVM or from a Spark Connect server."""

from __future__ import annotations

import html
from os import PathLike
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

from sparqr._calls import in_thread
from sparqr._display import SHOWN, html_table, number, require_pandas
from sparqr._errors import telling_errors
from sparqr._pyspark import spark_context
from sparqr._report import page_of, read, to_html
from sparqr._stage import Told, session

if TYPE_CHECKING:
    import pandas


class SparseQRRegressionSummary(Told):
    """Statistics of a fit, with MLlib's names; the intercept, if any, comes last."""

    def _frame(self, name: str) -> DataFrame:
        with telling_errors():
            return DataFrame(getattr(self._java_obj, name)(), SparkSession.builder.getOrCreate())

    @property
    def predictions(self) -> DataFrame:
        """The training data with predictions, a DataFrame."""
        return self._frame("predictions")

    @property
    def residuals(self) -> DataFrame:
        """label - prediction, a DataFrame of one column."""
        return self._frame("residuals")

    def toDataFrame(self) -> DataFrame:
        """The coefficients: term, estimate, std_error, t_value, p_value, a DataFrame."""
        return self._frame("toDataFrame")

    def dependencies(self) -> DataFrame:
        """The dependences of dependent columns on others: term, depends_on, coefficient, a DataFrame."""
        return self._frame("dependencies")

    def absorbedEffects(self) -> DataFrame:
        """The absorbed effects: term, estimate, a DataFrame."""
        return self._frame("absorbedEffects")

    def to_pandas(self) -> pandas.DataFrame:
        """The coefficients as a pandas DataFrame: estimate, std_error, t_value, p_value by term."""
        require_pandas("to_pandas()")
        rows = in_thread(session(), "coefficients", self._rows)
        return _pandas_of(rows)

    def _rows(self, most: int | None = None) -> list[tuple[Any, ...]]:
        frame = self.toDataFrame()
        return [tuple(r) for r in (frame if most is None else frame.limit(most)).collect()]

    def _repr_html_(self) -> str:
        return in_thread(session(), "SparseQRRegressionSummary", self._html)

    def _html(self) -> str:
        header = ["term", "estimate", "std. error", "t value", "Pr(>|t|)"]
        df = self._java_obj.degreesOfFreedom()
        notes = [
            f"residual standard error {number(float(self._java_obj.sigma()))} on {df:,} degrees of freedom",
            f"R² {number(float(self._java_obj.r2()))}, {self._java_obj.numInstances():,} rows, "
            f"rank {self._java_obj.rank():,}",
        ]
        absorbed = sum(f.columns() for f in self._java_obj.absorbedFactors())
        total = self._java_obj.coefficientNames().size() - absorbed
        return html_table(f"Sparse QR regression of {self.labelCol}", header, self._rows(SHOWN), notes, total)

    def __str__(self) -> str:
        """The table that R's ``summary(lm(...))`` prints."""
        return in_thread(session(), "SparseQRRegressionSummary", self._java_obj.toString)

    @property
    def report(self) -> dict[str, Any]:
        """Sizes, ordering, flops, backend, seconds and the rest: the JSON report as a dict."""
        with telling_errors():
            return read(self._java_obj.report().toJson())

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """The report as one page with pictures, as :meth:`sparqr.LeastSquaresResult.to_html`.

        Parameters
        ----------
        path : str or path, optional
            Where to write it.

        Raises
        ------
        ValueError
            The fit was made without ``profile=True``.
        """
        return to_html(in_thread(session(), "page", self._page), path)

    def _page(self) -> str:
        return page_of(spark_context()._jvm, self._java_obj.report())

    @property
    def coefficientStandardErrors(self) -> list[float]:
        """Standard errors, a list; NaN for dependent columns."""
        return self._call_java("coefficientStandardErrors")

    @property
    def tValues(self) -> list[float]:
        """t statistics, a list."""
        return self._call_java("tValues")

    @property
    def pValues(self) -> list[float]:
        """Two-sided p values, a list."""
        return self._call_java("pValues")

    @property
    def numInstances(self) -> int:
        """Number of instances with positive weight."""
        return self._call_java("numInstances")

    @property
    def degreesOfFreedom(self) -> int:
        """Number of instances minus rank."""
        return self._call_java("degreesOfFreedom")

    @property
    def rank(self) -> int:
        """Numerical rank, intercept included."""
        return self._call_java("rank")

    @property
    def deadColumns(self) -> list[int]:
        """Features that depend on others, a list of indices."""
        return self._call_java("deadColumns")

    @property
    def featuresCol(self) -> str:
        """Name of the features column."""
        return self._call_java("featuresCol")

    @property
    def labelCol(self) -> str:
        """Name of the label column."""
        return self._call_java("labelCol")

    @property
    def predictionCol(self) -> str:
        """Name of the prediction column."""
        return self._call_java("predictionCol")

    # The first statistic reads the data again, unless the fit computed standard errors.
    def _computed(self, name: str) -> Any:
        return in_thread(session(), f"{type(self).__name__}.{name}", lambda: self._call_java(name))

    @property
    def meanSquaredError(self) -> float:
        """Weighted mean of the squared residuals."""
        return self._computed("meanSquaredError")

    @property
    def rootMeanSquaredError(self) -> float:
        """Square root of the mean squared error."""
        return self._computed("rootMeanSquaredError")

    @property
    def meanAbsoluteError(self) -> float:
        """Weighted mean of the absolute residuals."""
        return self._computed("meanAbsoluteError")

    @property
    def explainedVariance(self) -> float:
        """Weighted variance of the predictions, as MLlib defines it."""
        return self._computed("explainedVariance")

    @property
    def r2(self) -> float:
        """Coefficient of determination."""
        return self._computed("r2")

    @property
    def r2adj(self) -> float:
        """Coefficient of determination, adjusted for the degrees of freedom."""
        return self._computed("r2adj")

    @property
    def devianceResiduals(self) -> list[float]:
        """The least and the greatest weighted residual, a list."""
        return self._computed("devianceResiduals")


def _pandas_of(rows: list[tuple[Any, ...]]) -> pandas.DataFrame:
    import pandas

    frame = pandas.DataFrame(rows, columns=["term", "estimate", "std_error", "t_value", "p_value"])
    return frame.set_index("term").astype(float)


class ServersSummary(SparseQRRegressionSummary):
    """The summary of a model on a Spark Connect server."""

    _FRAMES = {
        "predictions": "training",
        "residuals": "residuals",
        "toDataFrame": "table",
        "dependencies": "dependencies",
        "absorbedEffects": "effects",
    }
    _ERRORS = ("coefficientStandardErrors", "tValues", "pValues")
    _COUNTS = ("numInstances", "degreesOfFreedom", "rank")
    _COMPUTED = (
        "meanSquaredError",
        "rootMeanSquaredError",
        "meanAbsoluteError",
        "explainedVariance",
        "r2",
        "r2adj",
        "devianceResiduals",
    )

    def __init__(self, model: Any) -> None:
        super().__init__()
        self._model = model

    def _call_java(self, name: str, *args: Any) -> Any:
        if name in self._ERRORS:
            return [float(v) for v in self._model._asked("errors")[name]]
        if name in self._COMPUTED:
            found = self._model._asked("metrics")[name]
            return [float(v) for v in found] if name == "devianceResiduals" else float(found[0])
        found = self._model._asked("fit")[name]
        if name in self._COUNTS:
            return int(found[0])
        return [int(v) for v in found] if name == "deadColumns" else found

    def _frame(self, name: str) -> DataFrame:
        with telling_errors():
            return self._model._told_by(self._FRAMES[name])

    def _page(self) -> str:
        return self._model._asked("page")["page"]

    def _html(self) -> str:
        return f"<pre>{html.escape(self._model._asked('text')['text'])}</pre>"

    def __str__(self) -> str:
        return in_thread(session(), type(self).__name__, lambda: self._model._asked("text")["text"])

    @property
    def report(self) -> dict[str, Any]:
        """Sizes, ordering, flops, backend, seconds and the rest: the JSON report as a dict."""
        return read(self._model._asked("fit")["report"])
