# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Spark ML: linear regression by sparse QR.

>>> from sparqr.ml import SparseQRRegression
>>> model = SparseQRRegression(featuresCol="features", labelCol="label").fit(df)
>>> model.coefficients, model.intercept, model.summary.pValues

An ordinary estimator for ``Pipeline`` and ``CrossValidator``, saved and loaded like the others.
"""

import json
import sys

from pyspark import SparkContext, keyword_only
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasFitIntercept,
    HasLabelCol,
    HasPredictionCol,
    HasRegParam,
    HasWeightCol,
)
from pyspark.ml.util import JavaMLReadable, JavaMLReader, JavaMLWritable
from pyspark.ml.wrapper import JavaEstimator, JavaModel, JavaWrapper
from pyspark.sql import DataFrame, SparkSession

from sparqr._jvm import java_class, telling_errors

__all__ = ["SparseQRRegression", "SparseQRRegressionModel", "SparseQRRegressionSummary"]

_JAVA_PACKAGE = "io.sparqr.spark.ml"

# PySpark finds the Python class of a loaded Java stage by the Java class's name.
sys.modules[_JAVA_PACKAGE] = sys.modules[__name__]


class _Reader(JavaMLReader):
    @classmethod
    def _java_loader_class(cls, clazz):
        return f"{_JAVA_PACKAGE}.{clazz.__name__}"


class _Readable(JavaMLReadable):
    @classmethod
    def read(cls):
        """The reader of this class."""
        return _Reader(cls)


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

    def getOrdering(self):
        """The column order."""
        return self.getOrDefault(self.ordering)

    def getBackend(self):
        """What computes."""
        return self.getOrDefault(self.backend)

    def getRankTolerance(self):
        """The threshold of dead columns; KeyError if it is not set."""
        return self.getOrDefault(self.rankTolerance)

    def getComputeStandardErrors(self):
        """Whether fit computes standard errors."""
        return self.getOrDefault(self.computeStandardErrors)


class SparseQRRegression(
    JavaEstimator, _SparseQRRegressionParams, JavaMLWritable, _Readable
):
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
    """

    @keyword_only
    def __init__(
        self,
        *,
        featuresCol="features",
        labelCol="label",
        predictionCol="prediction",
        weightCol=None,
        fitIntercept=True,
        regParam=0.0,
        ordering="auto",
        backend="auto",
        rankTolerance=None,
        computeStandardErrors=True,
    ):
        super().__init__()
        if SparkContext._active_spark_context is None:
            raise RuntimeError("no SparkContext: start Spark first, with Sparqr's jar")
        java_class(SparkContext._active_spark_context._jvm, f"{_JAVA_PACKAGE}.SparseQRRegression")
        self._java_obj = self._new_java_obj(f"{_JAVA_PACKAGE}.SparseQRRegression", self.uid)
        self._setDefault(
            fitIntercept=True,
            regParam=0.0,
            ordering="auto",
            backend="auto",
            computeStandardErrors=True,
        )
        self.setParams(**self._input_kwargs)

    @keyword_only
    def setParams(
        self,
        *,
        featuresCol="features",
        labelCol="label",
        predictionCol="prediction",
        weightCol=None,
        fitIntercept=True,
        regParam=0.0,
        ordering="auto",
        backend="auto",
        rankTolerance=None,
        computeStandardErrors=True,
    ):
        """Set several params at once."""
        return self._set(**self._input_kwargs)

    def setFeaturesCol(self, value):
        """The vector column."""
        return self._set(featuresCol=value)

    def setLabelCol(self, value):
        """The label column."""
        return self._set(labelCol=value)

    def setPredictionCol(self, value):
        """The column that transform adds."""
        return self._set(predictionCol=value)

    def setWeightCol(self, value):
        """The weight column."""
        return self._set(weightCol=value)

    def setFitIntercept(self, value):
        """Whether there is an intercept."""
        return self._set(fitIntercept=value)

    def setRegParam(self, value):
        """The ridge parameter."""
        return self._set(regParam=value)

    def setOrdering(self, value):
        """The column order."""
        return self._set(ordering=value)

    def setBackend(self, value):
        """What computes."""
        return self._set(backend=value)

    def setRankTolerance(self, value):
        """The threshold of dead columns."""
        return self._set(rankTolerance=value)

    def setComputeStandardErrors(self, value):
        """Whether fit computes standard errors."""
        return self._set(computeStandardErrors=value)

    def _fit(self, dataset):
        with telling_errors():
            return super()._fit(dataset)

    def _create_model(self, java_model):
        return SparseQRRegressionModel(java_model)


class SparseQRRegressionModel(
    JavaModel, _SparseQRRegressionParams, JavaMLWritable, _Readable
):
    """What :class:`SparseQRRegression` fits."""

    @property
    def coefficients(self):
        """b, a pyspark.ml.linalg.Vector of n entries; 0 in dead columns."""
        return self._call_java("coefficients")

    @property
    def intercept(self):
        """c, a float; 0.0 without intercept."""
        return self._call_java("intercept")

    @property
    def numFeatures(self):
        """n."""
        return self._call_java("numFeatures")

    def predict(self, value):
        """The prediction for one vector."""
        return self._call_java("predict", value)

    @property
    def hasSummary(self):
        """Whether the model was fitted here; a loaded one has no summary."""
        return self._call_java("hasSummary")

    @property
    def summary(self):
        """The :class:`SparseQRRegressionSummary`; RuntimeError if there is none."""
        if not self.hasSummary:
            raise RuntimeError(f"no summary: {type(self).__name__} was loaded, not fitted")
        return SparseQRRegressionSummary(self._java_obj.summary())


class SparseQRRegressionSummary(JavaWrapper):
    """Statistics of a fit, by MLlib's names; where there is an intercept it comes last."""

    def _frame(self, name):
        return DataFrame(getattr(self._java_obj, name)(), SparkSession.builder.getOrCreate())

    @property
    def predictions(self):
        """The training data with predictions, a DataFrame."""
        return self._frame("predictions")

    @property
    def residuals(self):
        """label - prediction, a DataFrame of one column."""
        return self._frame("residuals")

    @property
    def report(self):
        """Sizes, ordering, flops, backend, seconds and the rest: the JSON report as a dict."""
        return json.loads(self._java_obj.report().toJson())


def _delegated(name, doc):
    def get(self):
        with telling_errors():
            return self._call_java(name)

    return property(get, doc=doc)


for _name, _doc in {
    "coefficientStandardErrors": "Standard errors, a list; NaN for dead columns.",
    "tValues": "t statistics, a list.",
    "pValues": "Two-sided p values, a list.",
    "numInstances": "Instances of positive weight.",
    "degreesOfFreedom": "Instances less rank.",
    "rank": "Numerical rank, intercept included.",
    "deadColumns": "Features that depend on others, a list of indices.",
    "meanSquaredError": "Weighted mean of the squared residuals.",
    "rootMeanSquaredError": "Its square root.",
    "meanAbsoluteError": "Weighted mean of the absolute residuals.",
    "explainedVariance": "Weighted variance of the predictions, as MLlib defines it.",
    "r2": "Coefficient of determination.",
    "r2adj": "The same, adjusted for the degrees of freedom.",
    "devianceResiduals": "The least and the greatest weighted residual, a list.",
    "featuresCol": "Name of the features column.",
    "labelCol": "Name of the label column.",
    "predictionCol": "Name of the prediction column.",
}.items():
    setattr(SparseQRRegressionSummary, _name, _delegated(_name, _doc))
del _name, _doc
