# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Spark ML: linear regression by sparse QR.

>>> from sparqr.ml import SparseQRRegression
>>> model = SparseQRRegression(featuresCol="features", labelCol="label").fit(df)
>>> model.coefficients, model.intercept, model.summary.pValues

An ordinary estimator for ``Pipeline`` and ``CrossValidator``, saved and loaded like the others.
"""

from __future__ import annotations

from typing import Any

from sparqr._pyspark import require_pyspark

require_pyspark()  # before the imports below fail without a word on what to do

from pyspark import keyword_only
from pyspark.ml.linalg import DenseVector, Vector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.wrapper import JavaEstimator, JavaModel
from pyspark.sql import DataFrame

from sparqr import _connect, _progress
from sparqr._calls import in_thread
from sparqr._errors import telling_errors
from sparqr._frame import require_frame
from sparqr._jvm import java_class
from sparqr._regression_params import RegressionParams, RegressionSetters, declared_defaults
from sparqr._regression_summary import ServersSummary, SparseQRRegressionSummary
from sparqr._stage import JAVA_ESTIMATOR, Saved, Told, require_jar, session

__all__ = ["SparseQRRegression", "SparseQRRegressionModel", "SparseQRRegressionSummary"]


class SparseQRRegression(Told, JavaEstimator, RegressionSetters, Saved):
    """Linear regression by sparse QR: the exact minimizer over coefficients b and intercept c of
    ``1/(2W) sum w (y - x'b - c)^2 + regParam/2 ||b||^2``, W being the sum of the weights.

    Any number of features, sparse vectors stay sparse. Dependent features get coefficient 0 and
    standard error NaN, and are named in ``summary.deadColumns``. MLlib's ``LinearRegression``
    divides its regParam by the label's standard deviation, this one does not.

    Parameters
    ----------
    featuresCol, labelCol, predictionCol : str
        Names of columns; defaults "features", "label", "prediction".
    formula : str, optional
        R's formula for response and terms and, after a bar, absorbed effects: ``log_wage ~ age + a:b + factor(year) +
        offset(z) | worker + firm``. Default: the features column.
    weightCol : str, optional
        Column of the rows' weights, each at least 0. Default: all weights are 1.
    categoricalCols : list of str, optional
        Columns that are factors whatever their type, such as numbers that are codes. Default: strings and booleans of
        a formula.
    referenceLevels : list of str, optional
        Reference levels of factors, each as column=level. Default: the first level in ascending order.
    handleInvalid : {"error", "skip", "keep"}
        What to do with rows that lack a value (skip leaves them out as R does, keep makes missing a level of its own).
    vcov : {"iid", "HC0", "HC1", "HC2", "HC3", "cluster"}, optional
        Standard errors (iid for equal variances, HC0 to HC3 for any variances, cluster for errors correlated within
        clusters). Default: cluster if there are columns of clusters, else iid.
    clusterCols : list of str, optional
        One or two columns of clusters, within which errors may be correlated. Default: none.
    clusterCorrection : {"fixest", "sandwich", "none"}
        Small-sample correction of clustered errors (fixest takes t with clusters - 1 degrees of freedom, sandwich is
        that of R's vcovCL).
    computeStandardErrors : bool
        Compute standard errors, which may cost as much as the fit.
    keepTerms : list of str, optional
        Names of coefficients to keep if columns depend on each other, in order of priority. Default: none.
    dropTerms : list of str, optional
        Names of coefficients to drop first if columns depend on each other; of the others later ones are dropped
        first, as in R's lm. Default: none.
    fitIntercept : bool
        Fit an intercept, which is never penalized; a formula decides that itself.
    regParam : float
        Ridge parameter, at least 0, of 1/(2W) sum w (y - x'b - c)^2 + regParam/2 ||b||^2, W being the sum of the
        weights.
    offsetCol : str, optional
        Column that is subtracted from the label and added to predictions. Default: none.
    idCol : str, optional
        Column whose value identifies a rejected row in the error message. Default: partition, row and file alone.
    ordering : {"auto", "colamd", "amd", "nd", "natural", "best"}
        Column order.
    backend : {"auto", "cpu", "cuda"}
        What computes (cuda fails where there is no device).
    method : {"auto", "householder"}
        How fronts are factored.
    rankTolerance : float, optional
        A column whose remaining norm, after scaling, is at most this counts as dependent (R's lm: 1e-7); negative: no
        rank detection. Default: 20 (m+n) eps max ||a_j||.
    profile : bool
        Record time and place of all work, for the report's page.
    progress : bool, optional
        Show progress of a fit, as :func:`sparqr.solve` does. It is not a param, so it is neither saved nor loaded.
    """

    _input_kwargs: dict[str, Any]  # set by keyword_only

    @keyword_only
    def __init__(
        self,
        *,
        featuresCol: str = "features",
        labelCol: str = "label",
        predictionCol: str = "prediction",
        formula: str | None = None,
        weightCol: str | None = None,
        categoricalCols: list[str] | None = None,
        referenceLevels: list[str] | None = None,
        handleInvalid: str = "error",
        vcov: str | None = None,
        clusterCols: list[str] | None = None,
        clusterCorrection: str = "fixest",
        computeStandardErrors: bool = True,
        keepTerms: list[str] | None = None,
        dropTerms: list[str] | None = None,
        fitIntercept: bool = True,
        regParam: float = 0.0,
        offsetCol: str | None = None,
        idCol: str | None = None,
        ordering: str = "auto",
        backend: str = "auto",
        method: str = "auto",
        rankTolerance: float | None = None,
        profile: bool = False,
        progress: bool | None = None,
    ) -> None:
        super().__init__()
        require_jar()
        self._java_obj = self._new_java_obj(JAVA_ESTIMATOR, self.uid)
        self._setDefault(**declared_defaults())
        given = dict(self._input_kwargs)
        self.setProgress(given.pop("progress", None))
        self.setParams(**given)

    @keyword_only
    def setParams(
        self,
        *,
        featuresCol: str = "features",
        labelCol: str = "label",
        predictionCol: str = "prediction",
        formula: str | None = None,
        weightCol: str | None = None,
        categoricalCols: list[str] | None = None,
        referenceLevels: list[str] | None = None,
        handleInvalid: str = "error",
        vcov: str | None = None,
        clusterCols: list[str] | None = None,
        clusterCorrection: str = "fixest",
        computeStandardErrors: bool = True,
        keepTerms: list[str] | None = None,
        dropTerms: list[str] | None = None,
        fitIntercept: bool = True,
        regParam: float = 0.0,
        offsetCol: str | None = None,
        idCol: str | None = None,
        ordering: str = "auto",
        backend: str = "auto",
        method: str = "auto",
        rankTolerance: float | None = None,
        profile: bool = False,
    ) -> SparseQRRegression:
        """Set several params at once."""
        return self._set(**self._input_kwargs)

    def _fit(self, dataset: DataFrame) -> SparseQRRegressionModel:
        if require_frame(dataset) is not None:
            return super()._fit(dataset)
        fit = super()._fit
        return in_thread(dataset.sparkSession, f"{type(self).__name__}.fit", lambda: fit(dataset))

    def setProgress(self, value: bool | None) -> SparseQRRegression:
        """Whether a fit shows its progress; None: in notebooks and on terminals, for fits on the main thread."""
        _progress.wanted(value)
        self._progress = value
        return self

    def _fit_java(self, dataset: DataFrame) -> Any:
        fit = super()._fit_java
        shows = _progress.wanted(self._progress)
        jvm: Any = dataset.sparkSession._jvm
        java: Any = self._java_obj

        def work() -> Any:
            with _progress.showing(jvm, shows) as shown:
                none = java_class(jvm, "io.sparqr.spark.report.ProgressListener").NONE
                java.setListener(none if shown is None else shown.listener)
                return fit(dataset)

        return in_thread(dataset.sparkSession, f"{type(self).__name__}.fit", work)

    def _create_model(self, java_model: Any) -> SparseQRRegressionModel:
        return SparseQRRegressionModel(java_model)


class SparseQRRegressionModel(Told, JavaModel, RegressionParams, Saved):
    """Model fitted by :class:`SparseQRRegression`."""

    output = Param(
        Params._dummy(),
        "output",
        "what transform returns: prediction, or a table of the model itself",
        typeConverter=TypeConverters.toString,
    )
    level = Param(
        Params._dummy(),
        "level",
        "confidence level whose critical value the output inference has",
        typeConverter=TypeConverters.toFloat,
    )

    def __init__(self, java_model: Any = None) -> None:
        super().__init__(java_model)
        self._setDefault(output="prediction", level=0.95)
        _connect.note_reference(java_model)

    def getOutput(self) -> str:
        """The output of transform."""
        return self.getOrDefault(self.output)

    def setOutput(self, value: str) -> SparseQRRegressionModel:
        """The output of transform: ``"prediction"``, the data with a column of predictions; or a table about
        the model itself, without reading the data: ``"table"``, ``"dependencies"``, ``"effects"``,
        ``"training"``, ``"residuals"`` as in the summary; ``"coefficients"``, ``"errors"``, ``"fit"``,
        ``"inference"``, ``"metrics"``, ``"text"``, ``"page"`` are rows of name, part, text and numbers.
        ``"all"`` adds predictions like ``"prediction"``, with NaN for rows without one, ``"allWithErrors"`` their
        standard errors besides, in a column named after that of the predictions and ``StandardError``."""
        return self._set(output=value)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        require_frame(dataset)
        transform = super()._transform
        name = f"{type(self).__name__}.transform"
        return in_thread(dataset.sparkSession, name, lambda: transform(dataset))

    def getLevel(self) -> float:
        """The confidence level of the critical value in the output ``"inference"``."""
        return self.getOrDefault(self.level)

    def setLevel(self, value: float) -> SparseQRRegressionModel:
        """The confidence level of the critical value in the output ``"inference"``, within (0, 1)."""
        return self._set(level=value)

    def _told_by(self, output: str, data: DataFrame | None = None, **params: Any) -> DataFrame:
        """The result of transform for an output, applied to the data if that output reads any."""
        params["output"] = output
        if _connect.is_connect():
            return _connect.model_frame(self, params, data)
        rows = session().range(0) if data is None else data
        return self.copy()._set(**params).transform(rows)

    def _asked(self, output: str, **params: Any) -> dict[str, Any]:
        """Information on this model from the JVM or a Spark Connect server, requested once per kind."""
        known = self.__dict__.setdefault("_known", {})
        key = (output, *params.items())
        if key not in known:
            with telling_errors():
                known[key] = _connect.parcels(self._told_by(output, **params))
        return known[key]

    def _value(self, name: str) -> Any:
        if not _connect.is_connect():
            return self._call_java(name)
        return self._asked("coefficients")[name]

    @property
    def coefficients(self) -> Vector:
        """b, a pyspark.ml.linalg.Vector of n entries; 0 in dependent columns."""
        found = self._value("coefficients")
        return DenseVector(found) if _connect.is_connect() else found

    @property
    def intercept(self) -> float:
        """c, a float; 0.0 without intercept."""
        found = self._value("intercept")
        return float(found[0]) if _connect.is_connect() else found

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
        found = self._value("hasSummary")
        return bool(found[0]) if _connect.is_connect() else found

    @property
    def summary(self) -> SparseQRRegressionSummary:
        """The :class:`SparseQRRegressionSummary`; RuntimeError if there is none."""
        if not self.hasSummary:
            raise RuntimeError(f"no summary: {type(self).__name__} was loaded, not fitted")
        if _connect.is_connect():
            return ServersSummary(self)
        with telling_errors():
            return SparseQRRegressionSummary(self._java_obj.summary())
