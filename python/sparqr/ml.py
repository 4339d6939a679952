# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Spark ML: linear regression by sparse QR.

>>> from sparqr.ml import SparseQRRegression
>>> model = SparseQRRegression(featuresCol="features", labelCol="label").fit(df)
>>> model.coefficients, model.intercept, model.summary.pValues

An ordinary estimator for ``Pipeline`` and ``CrossValidator``, saved and loaded like the others.
"""

import json

from pyspark import SparkContext, keyword_only
from pyspark.ml.linalg import DenseVector
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

from sparqr import _connect
from sparqr._calls import in_thread
from sparqr._errors import telling_errors
from sparqr._frame import require_frame
from sparqr._jvm import java_class

__all__ = ["SparseQRRegression", "SparseQRRegressionModel", "SparseQRRegressionSummary"]


# Of the same full name as the Python class: by it PySpark finds either of the two from the other.
_JAVA_ESTIMATOR = "sparqr.ml.SparseQRRegression"


def _require_jar():
    """RuntimeError if Spark was not started, or not with Sparqr's jar; over Spark Connect that is told by
    the first call of the server."""
    if _connect.is_connect():
        return
    context = SparkContext._active_spark_context
    if context is None:
        raise RuntimeError("no Spark session: start one first, with Sparqr's jar")
    with telling_errors():
        java_class(context._jvm, _JAVA_ESTIMATOR)


def _session():
    return _connect.active_session() if _connect.is_connect() else SparkSession.builder.getOrCreate()


class _Told(JavaWrapper):
    """Errors of the JVM as SparqrError where they are Sparqr's, or the JVM's end."""

    def _call_java(self, name, *args):
        with telling_errors():
            return super()._call_java(name, *args)


class _Saved(JavaMLReadable, JavaMLWritable):
    """Saved and loaded as PySpark's own are, errors told."""

    @classmethod
    def read(cls):
        """The reader of this class."""
        _require_jar()
        return super().read()

    @classmethod
    def load(cls, path):
        """What was saved to a path."""
        with telling_errors():
            return super().load(path)

    def write(self):
        """The writer."""
        with telling_errors():
            return super().write()

    def save(self, path):
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

    def getKeepTerms(self):
        """The coefficients that stay; None if they are not set."""
        return self.getOrDefault(self.keepTerms) if self.isDefined("keepTerms") else None

    def getDropTerms(self):
        """The coefficients that go first; None if they are not set."""
        return self.getOrDefault(self.dropTerms) if self.isDefined("dropTerms") else None

    def getVcov(self):
        """What the standard errors assume; None if it is not set."""
        return self.getOrDefault(self.vcov) if self.isDefined("vcov") else None

    def getClusterCols(self):
        """The columns of clusters; None if they are not set."""
        return self.getOrDefault(self.clusterCols) if self.isDefined("clusterCols") else None

    def getClusterCorrection(self):
        """The small-sample correction of clustered errors."""
        return self.getOrDefault(self.clusterCorrection)

    def getFormula(self):
        """The formula; None if it is not set."""
        return self.getOrDefault(self.formula) if self.isDefined("formula") else None

    def getCategoricalCols(self):
        """The columns that are factors; None if they are not set."""
        return self.getOrDefault(self.categoricalCols) if self.isDefined("categoricalCols") else None

    def getReferenceLevels(self):
        """The reference levels; None if they are not set."""
        return self.getOrDefault(self.referenceLevels) if self.isDefined("referenceLevels") else None

    def getOffsetCol(self):
        """The offset column; None if it is not set."""
        return self.getOrDefault(self.offsetCol) if self.isDefined("offsetCol") else None

    def getHandleInvalid(self):
        """What is done with rows that lack a value."""
        return self.getOrDefault(self.handleInvalid)

    def getOrdering(self):
        """The column order."""
        return self.getOrDefault(self.ordering)

    def getBackend(self):
        """What computes."""
        return self.getOrDefault(self.backend)

    def getRankTolerance(self):
        """The threshold of dead columns; None if it is not set, for ``20 (m + n) eps``."""
        return self.getOrDefault(self.rankTolerance) if self.isDefined("rankTolerance") else None

    def getWeightCol(self):
        """The weight column; None if it is not set: all weights are 1."""
        return self.getOrDefault(self.weightCol) if self.isDefined("weightCol") else None

    def getIdCol(self):
        """The column that names a row in errors; None if it is not set."""
        return self.getOrDefault(self.idCol) if self.isDefined("idCol") else None

    def getComputeStandardErrors(self):
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
        idCol=None,
        formula=None,
        categoricalCols=None,
        referenceLevels=None,
        offsetCol=None,
        handleInvalid="error",
        keepTerms=None,
        dropTerms=None,
        vcov=None,
        clusterCols=None,
        clusterCorrection="sandwich",
    ):
        super().__init__()
        _require_jar()
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
        idCol=None,
        formula=None,
        categoricalCols=None,
        referenceLevels=None,
        offsetCol=None,
        handleInvalid="error",
        keepTerms=None,
        dropTerms=None,
        vcov=None,
        clusterCols=None,
        clusterCorrection="sandwich",
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

    def setFormula(self, value):
        """R's formula."""
        return self._set(formula=value)

    def setCategoricalCols(self, value):
        """The columns that are factors."""
        return self._set(categoricalCols=value)

    def setReferenceLevels(self, value):
        """The reference levels, each as column=level."""
        return self._set(referenceLevels=value)

    def setOffsetCol(self, value):
        """The offset column."""
        return self._set(offsetCol=value)

    def setKeepTerms(self, value):
        """The coefficients that stay."""
        return self._set(keepTerms=value)

    def setDropTerms(self, value):
        """The coefficients that go first."""
        return self._set(dropTerms=value)

    def setVcov(self, value):
        """What the standard errors assume."""
        return self._set(vcov=value)

    def setClusterCols(self, value):
        """The columns of clusters."""
        return self._set(clusterCols=value)

    def setClusterCorrection(self, value):
        """The small-sample correction of clustered errors."""
        return self._set(clusterCorrection=value)

    def setHandleInvalid(self, value):
        """What is done with rows that lack a value."""
        return self._set(handleInvalid=value)

    def setIdCol(self, value):
        """The column that names a row in errors."""
        return self._set(idCol=value)

    def setComputeStandardErrors(self, value):
        """Whether fit computes standard errors."""
        return self._set(computeStandardErrors=value)

    def _fit(self, dataset):
        if require_frame(dataset) is not None:
            return super()._fit(dataset)
        fit = super()._fit
        return in_thread(dataset.sparkSession, f"{type(self).__name__}.fit", lambda: fit(dataset))

    def _fit_java(self, dataset):
        fit = super()._fit_java
        return in_thread(dataset.sparkSession, f"{type(self).__name__}.fit", lambda: fit(dataset))

    def _create_model(self, java_model):
        return SparseQRRegressionModel(java_model)


class SparseQRRegressionModel(_Told, JavaModel, _SparseQRRegressionParams, _Saved):
    """What :class:`SparseQRRegression` fits."""

    output = Param(
        Params._dummy(),
        "output",
        "what transform returns: prediction, or a table of the model itself",
        typeConverter=TypeConverters.toString,
    )

    def __init__(self, java_model=None):
        super().__init__(java_model)
        self._setDefault(output="prediction")
        _connect.note_reference(java_model)

    def getOutput(self):
        """What transform returns."""
        return self.getOrDefault(self.output)

    def setOutput(self, value):
        """What transform returns: ``"prediction"``, the data with a column of predictions; or a table of
        the model itself, which does not read the data: ``"table"``, ``"dependencies"``, ``"effects"``,
        ``"training"``, ``"residuals"`` as the summary's; ``"coefficients"``, ``"errors"``, ``"fit"``,
        ``"metrics"``, ``"text"`` are rows of name, part, text and numbers."""
        return self._set(output=value)

    def _transform(self, dataset):
        require_frame(dataset)
        transform = super()._transform
        name = f"{type(self).__name__}.transform"
        return in_thread(dataset.sparkSession, name, lambda: transform(dataset))

    def _asked(self, output):
        """What a server of Spark Connect says of this model, asked once a kind."""
        known = self.__dict__.setdefault("_known", {})
        if output not in known:
            with telling_errors():
                known[output] = _connect.parcels(_connect.model_frame(self, output))
        return known[output]

    def _value(self, name):
        if not _connect.is_connect():
            return self._call_java(name)
        return self._asked("coefficients")[name]

    @property
    def coefficients(self):
        """b, a pyspark.ml.linalg.Vector of n entries; 0 in dead columns."""
        found = self._value("coefficients")
        return DenseVector(found) if _connect.is_connect() else found

    @property
    def intercept(self):
        """c, a float; 0.0 without intercept."""
        found = self._value("intercept")
        return float(found[0]) if _connect.is_connect() else found

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
        found = self._value("hasSummary")
        return bool(found[0]) if _connect.is_connect() else found

    @property
    def summary(self):
        """The :class:`SparseQRRegressionSummary`; RuntimeError if there is none."""
        if not self.hasSummary:
            raise RuntimeError(f"no summary: {type(self).__name__} was loaded, not fitted")
        if _connect.is_connect():
            return _ServersSummary(self)
        with telling_errors():
            return SparseQRRegressionSummary(self._java_obj.summary())


class SparseQRRegressionSummary(_Told):
    """Statistics of a fit, by MLlib's names; where there is an intercept it comes last."""

    def _frame(self, name):
        with telling_errors():
            return DataFrame(getattr(self._java_obj, name)(), SparkSession.builder.getOrCreate())

    @property
    def predictions(self):
        """The training data with predictions, a DataFrame."""
        return self._frame("predictions")

    @property
    def residuals(self):
        """label - prediction, a DataFrame of one column."""
        return self._frame("residuals")

    def toDataFrame(self):
        """The coefficients: term, estimate, std_error, t_value, p_value, a DataFrame."""
        return self._frame("toDataFrame")

    def dependencies(self):
        """What dropped columns are made of: term, depends_on, coefficient, a DataFrame."""
        return self._frame("dependencies")

    def absorbedEffects(self):
        """The absorbed effects: term, estimate, a DataFrame."""
        return self._frame("absorbedEffects")

    def __str__(self):
        """What R's ``summary(lm(...))`` prints."""
        return in_thread(_session(), "SparseQRRegressionSummary", self._java_obj.toString)

    @property
    def report(self):
        """Sizes, ordering, flops, backend, seconds and the rest: the JSON report as a dict."""
        with telling_errors():
            return json.loads(self._java_obj.report().toJson())


def _told(name, doc):
    return property(lambda self: self._call_java(name), doc=doc)


def _computed(name, doc):
    def get(self):
        what = f"{type(self).__name__}.{name}"
        return in_thread(_session(), what, lambda: self._call_java(name))

    return property(get, doc=doc)


_TOLD = {
    "coefficientStandardErrors": "Standard errors, a list; NaN for dead columns.",
    "tValues": "t statistics, a list.",
    "pValues": "Two-sided p values, a list.",
    "numInstances": "Instances of positive weight.",
    "degreesOfFreedom": "Instances less rank.",
    "rank": "Numerical rank, intercept included.",
    "deadColumns": "Features that depend on others, a list of indices.",
    "featuresCol": "Name of the features column.",
    "labelCol": "Name of the label column.",
    "predictionCol": "Name of the prediction column.",
}

# The first of these reads the data again, if the fit computed no standard errors.
_COMPUTED = {
    "meanSquaredError": "Weighted mean of the squared residuals.",
    "rootMeanSquaredError": "Its square root.",
    "meanAbsoluteError": "Weighted mean of the absolute residuals.",
    "explainedVariance": "Weighted variance of the predictions, as MLlib defines it.",
    "r2": "Coefficient of determination.",
    "r2adj": "The same, adjusted for the degrees of freedom.",
    "devianceResiduals": "The least and the greatest weighted residual, a list.",
}

for _make, _properties in ((_told, _TOLD), (_computed, _COMPUTED)):
    for _name, _doc in _properties.items():
        setattr(SparseQRRegressionSummary, _name, _make(_name, _doc))
del _make, _properties, _name, _doc


class _ServersSummary(SparseQRRegressionSummary):
    """The same of a model that a server of Spark Connect holds."""

    _FRAMES = {
        "predictions": "training",
        "residuals": "residuals",
        "toDataFrame": "table",
        "dependencies": "dependencies",
        "absorbedEffects": "effects",
    }
    _ERRORS = ("coefficientStandardErrors", "tValues", "pValues")
    _COUNTS = ("numInstances", "degreesOfFreedom", "rank")

    def __init__(self, model):
        super().__init__()
        self._model = model

    def _call_java(self, name, *args):
        if name in self._ERRORS:
            return [float(v) for v in self._model._asked("errors")[name]]
        if name not in _TOLD:
            found = self._model._asked("metrics")[name]
            return [float(v) for v in found] if name == "devianceResiduals" else float(found[0])
        found = self._model._asked("fit")[name]
        if name in self._COUNTS:
            return int(found[0])
        return [int(v) for v in found] if name == "deadColumns" else found

    def _frame(self, name):
        with telling_errors():
            return _connect.model_frame(self._model, self._FRAMES[name])

    def __str__(self):
        return in_thread(_session(), type(self).__name__, lambda: self._model._asked("text")["text"])

    @property
    def report(self):
        """Sizes, ordering, flops, backend, seconds and the rest: the JSON report as a dict."""
        return json.loads(self._model._asked("fit")["report"])
