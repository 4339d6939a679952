# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Spark ML: linear regression by sparse QR.

>>> from sparqr.ml import SparseQRRegression
>>> model = SparseQRRegression(featuresCol="features", labelCol="label").fit(df)
>>> model.coefficients, model.intercept, model.summary.pValues

An ordinary estimator for ``Pipeline`` and ``CrossValidator``, saved and loaded like the others.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark import SparkContext, keyword_only
from pyspark.ml.linalg import Vector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasFitIntercept,
    HasLabelCol,
    HasPredictionCol,
    HasRegParam,
    HasWeightCol,
)
from pyspark.ml.util import JavaMLReadable, JavaMLWritable
from pyspark.ml.wrapper import JavaEstimator, JavaModel, JavaWrapper
from pyspark.sql import DataFrame, SparkSession

from sparqr._calls import in_thread
from sparqr._display import SHOWN, html_table, number, require_pandas
from sparqr._errors import telling_errors
from sparqr._frame import require_jvm_frame, require_no_connect
from sparqr._jvm import java_class

if TYPE_CHECKING:
    import pandas

__all__ = ["SparseQRRegression", "SparseQRRegressionModel", "SparseQRRegressionSummary"]


# Of the same full name as the Python class: by it PySpark finds either of the two from the other.
_JAVA_ESTIMATOR = "sparqr.ml.SparseQRRegression"


def _require_jar(cls: type) -> None:
    """RuntimeError if Spark was not started, or not with Sparqr's jar."""
    require_no_connect(cls.__name__)
    context = SparkContext._active_spark_context
    if context is None:
        raise RuntimeError("no Spark session: start one first, with Sparqr's jar")
    with telling_errors():
        java_class(context._jvm, _JAVA_ESTIMATOR)


class _Told(JavaWrapper):
    """Errors of the JVM as SparqrError where they are Sparqr's, or the JVM's end."""

    _java_obj: Any

    def _call_java(self, name: str, *args: Any) -> Any:
        with telling_errors():
            return super()._call_java(name, *args)


class _Saved(JavaMLReadable, JavaMLWritable):
    """Saved and loaded as PySpark's own are, errors told."""

    @classmethod
    def read(cls) -> Any:
        """The reader of this class."""
        _require_jar(cls)
        return super().read()

    @classmethod
    def load(cls, path: str) -> Any:
        """What was saved to a path."""
        with telling_errors():
            return super().load(path)

    def write(self) -> Any:
        """The writer."""
        with telling_errors():
            return super().write()

    def save(self, path: str) -> None:
        """Saves to a path that does not exist yet; ``write().overwrite().save(path)`` replaces."""
        with telling_errors():
            super().save(path)


class _SparseQRRegressionParams(
    HasFeaturesCol,
    HasLabelCol,
    HasPredictionCol,
    HasWeightCol,
    HasFitIntercept,
    HasRegParam,
):
    ordering = Param(
        Params._dummy(),
        "ordering",
        "column order: auto, colamd, amd, nd, natural or best",
        typeConverter=TypeConverters.toString,
    )
    backend = Param(
        Params._dummy(),
        "backend",
        "auto, cpu or cuda; cuda fails without a device",
        typeConverter=TypeConverters.toString,
    )
    rankTolerance = Param(
        Params._dummy(),
        "rankTolerance",
        "a column whose remaining norm is at most this is dead; negative: no rank detection",
        typeConverter=TypeConverters.toFloat,
    )
    computeStandardErrors = Param(
        Params._dummy(),
        "computeStandardErrors",
        "whether fit computes standard errors, which may cost as much as the fit",
        typeConverter=TypeConverters.toBoolean,
    )

    idCol = Param(
        Params._dummy(),
        "idCol",
        "a column whose value names a row in errors",
        typeConverter=TypeConverters.toString,
    )

    formula = Param(
        Params._dummy(),
        "formula",
        "R's formula for response, columns and absorbed effects: log_wage ~ age + firm | worker",
        typeConverter=TypeConverters.toString,
    )
    categoricalCols = Param(
        Params._dummy(),
        "categoricalCols",
        "columns that are factors",
        typeConverter=TypeConverters.toListString,
    )
    referenceLevels = Param(
        Params._dummy(),
        "referenceLevels",
        "reference levels of factors, each as column=level",
        typeConverter=TypeConverters.toListString,
    )
    offsetCol = Param(
        Params._dummy(),
        "offsetCol",
        "a column that is taken off the label and added to predictions",
        typeConverter=TypeConverters.toString,
    )
    handleInvalid = Param(
        Params._dummy(),
        "handleInvalid",
        "what is done with rows that lack a value: error, skip or keep",
        typeConverter=TypeConverters.toString,
    )

    keepTerms = Param(
        Params._dummy(),
        "keepTerms",
        "names of coefficients that stay where columns depend on each other",
        typeConverter=TypeConverters.toListString,
    )
    dropTerms = Param(
        Params._dummy(),
        "dropTerms",
        "names of coefficients that go first where columns depend on each other",
        typeConverter=TypeConverters.toListString,
    )
    vcov = Param(
        Params._dummy(),
        "vcov",
        "standard errors: iid, HC0 to HC3, or cluster",
        typeConverter=TypeConverters.toString,
    )
    clusterCols = Param(
        Params._dummy(),
        "clusterCols",
        "one or two columns of clusters, within which errors may be correlated",
        typeConverter=TypeConverters.toListString,
    )
    clusterCorrection = Param(
        Params._dummy(),
        "clusterCorrection",
        "small-sample correction of clustered errors: sandwich, fixest or none",
        typeConverter=TypeConverters.toString,
    )

    def getKeepTerms(self) -> list[str] | None:
        """The coefficients that stay; None if they are not set."""
        return self.getOrDefault(self.keepTerms) if self.isDefined("keepTerms") else None

    def getDropTerms(self) -> list[str] | None:
        """The coefficients that go first; None if they are not set."""
        return self.getOrDefault(self.dropTerms) if self.isDefined("dropTerms") else None

    def getVcov(self) -> str | None:
        """What the standard errors assume; None if it is not set."""
        return self.getOrDefault(self.vcov) if self.isDefined("vcov") else None

    def getClusterCols(self) -> list[str] | None:
        """The columns of clusters; None if they are not set."""
        return self.getOrDefault(self.clusterCols) if self.isDefined("clusterCols") else None

    def getClusterCorrection(self) -> str:
        """The small-sample correction of clustered errors."""
        return self.getOrDefault(self.clusterCorrection)

    def getFormula(self) -> str | None:
        """The formula; None if it is not set."""
        return self.getOrDefault(self.formula) if self.isDefined("formula") else None

    def getCategoricalCols(self) -> list[str] | None:
        """The columns that are factors; None if they are not set."""
        return self.getOrDefault(self.categoricalCols) if self.isDefined("categoricalCols") else None

    def getReferenceLevels(self) -> list[str] | None:
        """The reference levels; None if they are not set."""
        return self.getOrDefault(self.referenceLevels) if self.isDefined("referenceLevels") else None

    def getOffsetCol(self) -> str | None:
        """The offset column; None if it is not set."""
        return self.getOrDefault(self.offsetCol) if self.isDefined("offsetCol") else None

    def getHandleInvalid(self) -> str:
        """What is done with rows that lack a value."""
        return self.getOrDefault(self.handleInvalid)

    def getOrdering(self) -> str:
        """The column order."""
        return self.getOrDefault(self.ordering)

    def getBackend(self) -> str:
        """What computes."""
        return self.getOrDefault(self.backend)

    def getRankTolerance(self) -> float | None:
        """The threshold of dead columns; None if it is not set, for ``20 (m + n) eps``."""
        return self.getOrDefault(self.rankTolerance) if self.isDefined("rankTolerance") else None

    def getWeightCol(self) -> str | None:  # type: ignore[override]
        """The weight column; None if it is not set: all weights are 1."""
        return self.getOrDefault(self.weightCol) if self.isDefined("weightCol") else None

    def getIdCol(self) -> str | None:
        """The column that names a row in errors; None if it is not set."""
        return self.getOrDefault(self.idCol) if self.isDefined("idCol") else None

    def getComputeStandardErrors(self) -> bool:
        """Whether fit computes standard errors."""
        return self.getOrDefault(self.computeStandardErrors)


class SparseQRRegression(_Told, JavaEstimator, _SparseQRRegressionParams, _Saved):
    """Linear regression by sparse QR: the exact minimizer over coefficients b and intercept c of
    ``1/(2W) sum w (y - x'b - c)^2 + regParam/2 ||b||^2``, W being the sum of the weights.

    Any number of features, sparse vectors stay sparse. Dependent features get coefficient 0 and
    standard error NaN, and are named in ``summary.deadColumns``. MLlib's ``LinearRegression``
    divides its regParam by the label's standard deviation, this one does not.

    Parameters
    ----------
    featuresCol, labelCol, predictionCol : str
        Columns; defaults "features", "label", "prediction".
    weightCol : str, optional
        Weights, at least 0. Default: all are 1.
    fitIntercept : bool
        Default True. The intercept is never penalized.
    regParam : float
        At least 0; default 0.
    ordering : {"auto", "colamd", "amd", "nd", "natural", "best"}
        Column order.
    backend : {"auto", "cpu", "cuda"}
        "cuda" fails without a device.
    rankTolerance : float, optional
        Threshold of dead columns.
    computeStandardErrors : bool
        Default True.
    idCol : str, optional
        Its value names a row that is refused.
    formula : str, optional
        R's formula, in place of features and label column: ``log_wage ~ age + a:b | worker``.
    categoricalCols : list of str, optional
        Columns that are factors, without an encoder before.
    referenceLevels : list of str, optional
        Each as ``column=level``; of the other factors the first level.
    offsetCol : str, optional
        A column that is taken off the label and added to predictions.
    handleInvalid : {"error", "skip", "keep"}
        What is done with rows that lack a value.
    keepTerms : list of str, optional
        Names of coefficients that stay where columns depend on each other, the first most of all.
    dropTerms : list of str, optional
        Names of coefficients that go first. Of the others the later go, as in lm.
    vcov : {"iid", "HC0", "HC1", "HC2", "HC3", "cluster"}, optional
        What the standard errors assume. Default: cluster where ``clusterCols`` is set, else iid.
    clusterCols : list of str, optional
        One or two columns of clusters, within which errors may be correlated.
    clusterCorrection : {"sandwich", "fixest", "none"}
        Small-sample correction of clustered errors.
    """

    _input_kwargs: dict[str, Any]  # by keyword_only

    @keyword_only
    def __init__(
        self,
        *,
        featuresCol: str = "features",
        labelCol: str = "label",
        predictionCol: str = "prediction",
        weightCol: str | None = None,
        fitIntercept: bool = True,
        regParam: float = 0.0,
        ordering: str = "auto",
        backend: str = "auto",
        rankTolerance: float | None = None,
        computeStandardErrors: bool = True,
        idCol: str | None = None,
        formula: str | None = None,
        categoricalCols: list[str] | None = None,
        referenceLevels: list[str] | None = None,
        offsetCol: str | None = None,
        handleInvalid: str = "error",
        keepTerms: list[str] | None = None,
        dropTerms: list[str] | None = None,
        vcov: str | None = None,
        clusterCols: list[str] | None = None,
        clusterCorrection: str = "sandwich",
    ) -> None:
        super().__init__()
        _require_jar(type(self))
        self._java_obj = self._new_java_obj(_JAVA_ESTIMATOR, self.uid)
        self._setDefault(
            fitIntercept=True,
            regParam=0.0,
            ordering="auto",
            backend="auto",
            computeStandardErrors=True,
            handleInvalid="error",
            clusterCorrection="sandwich",
        )
        self.setParams(**self._input_kwargs)

    @keyword_only
    def setParams(
        self,
        *,
        featuresCol: str = "features",
        labelCol: str = "label",
        predictionCol: str = "prediction",
        weightCol: str | None = None,
        fitIntercept: bool = True,
        regParam: float = 0.0,
        ordering: str = "auto",
        backend: str = "auto",
        rankTolerance: float | None = None,
        computeStandardErrors: bool = True,
        idCol: str | None = None,
        formula: str | None = None,
        categoricalCols: list[str] | None = None,
        referenceLevels: list[str] | None = None,
        offsetCol: str | None = None,
        handleInvalid: str = "error",
        keepTerms: list[str] | None = None,
        dropTerms: list[str] | None = None,
        vcov: str | None = None,
        clusterCols: list[str] | None = None,
        clusterCorrection: str = "sandwich",
    ) -> SparseQRRegression:
        """Set several params at once."""
        return self._set(**self._input_kwargs)

    def setFeaturesCol(self, value: str) -> SparseQRRegression:
        """The vector column."""
        return self._set(featuresCol=value)

    def setLabelCol(self, value: str) -> SparseQRRegression:
        """The label column."""
        return self._set(labelCol=value)

    def setPredictionCol(self, value: str) -> SparseQRRegression:
        """The column that transform adds."""
        return self._set(predictionCol=value)

    def setWeightCol(self, value: str) -> SparseQRRegression:
        """The weight column."""
        return self._set(weightCol=value)

    def setFitIntercept(self, value: bool) -> SparseQRRegression:
        """Whether there is an intercept."""
        return self._set(fitIntercept=value)

    def setRegParam(self, value: float) -> SparseQRRegression:
        """The ridge parameter."""
        return self._set(regParam=value)

    def setOrdering(self, value: str) -> SparseQRRegression:
        """The column order."""
        return self._set(ordering=value)

    def setBackend(self, value: str) -> SparseQRRegression:
        """What computes."""
        return self._set(backend=value)

    def setRankTolerance(self, value: float) -> SparseQRRegression:
        """The threshold of dead columns."""
        return self._set(rankTolerance=value)

    def setFormula(self, value: str) -> SparseQRRegression:
        """R's formula."""
        return self._set(formula=value)

    def setCategoricalCols(self, value: list[str]) -> SparseQRRegression:
        """The columns that are factors."""
        return self._set(categoricalCols=value)

    def setReferenceLevels(self, value: list[str]) -> SparseQRRegression:
        """The reference levels, each as column=level."""
        return self._set(referenceLevels=value)

    def setOffsetCol(self, value: str) -> SparseQRRegression:
        """The offset column."""
        return self._set(offsetCol=value)

    def setKeepTerms(self, value: list[str]) -> SparseQRRegression:
        """The coefficients that stay."""
        return self._set(keepTerms=value)

    def setDropTerms(self, value: list[str]) -> SparseQRRegression:
        """The coefficients that go first."""
        return self._set(dropTerms=value)

    def setVcov(self, value: str) -> SparseQRRegression:
        """What the standard errors assume."""
        return self._set(vcov=value)

    def setClusterCols(self, value: list[str]) -> SparseQRRegression:
        """The columns of clusters."""
        return self._set(clusterCols=value)

    def setClusterCorrection(self, value: str) -> SparseQRRegression:
        """The small-sample correction of clustered errors."""
        return self._set(clusterCorrection=value)

    def setHandleInvalid(self, value: str) -> SparseQRRegression:
        """What is done with rows that lack a value."""
        return self._set(handleInvalid=value)

    def setIdCol(self, value: str) -> SparseQRRegression:
        """The column that names a row in errors."""
        return self._set(idCol=value)

    def setComputeStandardErrors(self, value: bool) -> SparseQRRegression:
        """Whether fit computes standard errors."""
        return self._set(computeStandardErrors=value)

    def _fit_java(self, dataset: DataFrame) -> Any:
        require_jvm_frame(dataset)
        fit = super()._fit_java
        return in_thread(dataset.sparkSession, f"{type(self).__name__}.fit", lambda: fit(dataset))

    def _create_model(self, java_model: Any) -> SparseQRRegressionModel:
        return SparseQRRegressionModel(java_model)


class SparseQRRegressionModel(_Told, JavaModel, _SparseQRRegressionParams, _Saved):
    """What :class:`SparseQRRegression` fits."""

    def _transform(self, dataset: DataFrame) -> DataFrame:
        require_jvm_frame(dataset)
        transform = super()._transform
        name = f"{type(self).__name__}.transform"
        return in_thread(dataset.sparkSession, name, lambda: transform(dataset))

    @property
    def coefficients(self) -> Vector:
        """b, a pyspark.ml.linalg.Vector of n entries; 0 in dead columns."""
        return self._call_java("coefficients")

    @property
    def intercept(self) -> float:
        """c, a float; 0.0 without intercept."""
        return self._call_java("intercept")

    @property
    def numFeatures(self) -> int:
        """n."""
        return self._call_java("numFeatures")

    def predict(self, value: Vector) -> float:
        """The prediction for one vector."""
        return self._call_java("predict", value)

    @property
    def hasSummary(self) -> bool:
        """Whether the model was fitted here; a loaded one has no summary."""
        return self._call_java("hasSummary")

    @property
    def summary(self) -> SparseQRRegressionSummary:
        """The :class:`SparseQRRegressionSummary`; RuntimeError if there is none."""
        if not self.hasSummary:
            raise RuntimeError(f"no summary: {type(self).__name__} was loaded, not fitted")
        with telling_errors():
            return SparseQRRegressionSummary(self._java_obj.summary())


class SparseQRRegressionSummary(_Told):
    """Statistics of a fit, by MLlib's names; where there is an intercept it comes last."""

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
        """What dropped columns are made of: term, depends_on, coefficient, a DataFrame."""
        return self._frame("dependencies")

    def absorbedEffects(self) -> DataFrame:
        """The absorbed effects: term, estimate, a DataFrame."""
        return self._frame("absorbedEffects")

    def to_pandas(self) -> pandas.DataFrame:
        """The coefficients as a pandas DataFrame: estimate, std_error, t_value, p_value by term."""
        require_pandas("to_pandas()")
        rows = in_thread(SparkSession.builder.getOrCreate(), "coefficients", self._rows)
        return _pandas_of(rows)

    def _rows(self, most: int | None = None) -> list[tuple[Any, ...]]:
        frame = self.toDataFrame()
        return [tuple(r) for r in (frame if most is None else frame.limit(most)).collect()]

    def _repr_html_(self) -> str:
        session = SparkSession.builder.getOrCreate()
        return in_thread(session, "SparseQRRegressionSummary", self._html)

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
        """What R's ``summary(lm(...))`` prints."""
        session = SparkSession.builder.getOrCreate()
        return in_thread(session, "SparseQRRegressionSummary", self._java_obj.toString)

    @property
    def report(self) -> dict[str, Any]:
        """Sizes, ordering, flops, backend, seconds and the rest: the JSON report as a dict."""
        with telling_errors():
            return json.loads(self._java_obj.report().toJson())

    @property
    def coefficientStandardErrors(self) -> list[float]:
        """Standard errors, a list; NaN for dead columns."""
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
        """Instances of positive weight."""
        return self._call_java("numInstances")

    @property
    def degreesOfFreedom(self) -> int:
        """Instances less rank."""
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

    # The first of these reads the data again, if the fit computed no standard errors.
    def _computed(self, name: str) -> Any:
        session = SparkSession.builder.getOrCreate()
        return in_thread(session, f"{type(self).__name__}.{name}", lambda: self._call_java(name))

    @property
    def meanSquaredError(self) -> float:
        """Weighted mean of the squared residuals."""
        return self._computed("meanSquaredError")

    @property
    def rootMeanSquaredError(self) -> float:
        """Its square root."""
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
        """The same, adjusted for the degrees of freedom."""
        return self._computed("r2adj")

    @property
    def devianceResiduals(self) -> list[float]:
        """The least and the greatest weighted residual, a list."""
        return self._computed("devianceResiduals")


def _pandas_of(rows: list[tuple[Any, ...]]) -> pandas.DataFrame:
    import pandas

    frame = pandas.DataFrame(rows, columns=["term", "estimate", "std_error", "t_value", "p_value"])
    return frame.set_index("term").astype(float)
