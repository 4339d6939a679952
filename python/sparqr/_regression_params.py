# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Params of :class:`sparqr.ml.SparseQRRegression` and its model."""

from __future__ import annotations

from typing import Any, TypeVar

from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasFitIntercept,
    HasLabelCol,
    HasPredictionCol,
    HasRegParam,
    HasWeightCol,
)

from sparqr._declared import OPTIONS, REGRESSION, Option

_S = TypeVar("_S", bound="RegressionSetters")


def _option(name: str) -> Option:
    return REGRESSION.get(name) or next(o for o in OPTIONS.values() if o.java == name)


def _declared(name: str, converter: Any) -> Any:
    """A param as Java declares it."""
    option = _option(name)
    words = f": {', '.join(option.values)}" if isinstance(option.values, tuple) else ""
    return Param(Params._dummy(), name, option.meaning + words, typeConverter=converter)


def declared_defaults() -> dict[str, Any]:
    """The defaults of the params that have one, but for the names of columns, which Spark has."""
    options = [*REGRESSION.values(), *OPTIONS.values()]
    return {o.java: o.default for o in options if hasattr(RegressionParams, o.java) and o.default is not None}


class RegressionParams(
    HasFeaturesCol,
    HasLabelCol,
    HasPredictionCol,
    HasWeightCol,
    HasFitIntercept,
    HasRegParam,
):
    # one for each param of Java
    formula = _declared("formula", TypeConverters.toString)
    weightCol = _declared("weightCol", TypeConverters.toString)
    categoricalCols = _declared("categoricalCols", TypeConverters.toListString)
    referenceLevels = _declared("referenceLevels", TypeConverters.toListString)
    handleInvalid = _declared("handleInvalid", TypeConverters.toString)
    vcov = _declared("vcov", TypeConverters.toString)
    clusterCols = _declared("clusterCols", TypeConverters.toListString)
    clusterCorrection = _declared("clusterCorrection", TypeConverters.toString)
    computeStandardErrors = _declared("computeStandardErrors", TypeConverters.toBoolean)
    keepTerms = _declared("keepTerms", TypeConverters.toListString)
    dropTerms = _declared("dropTerms", TypeConverters.toListString)
    fitIntercept = _declared("fitIntercept", TypeConverters.toBoolean)
    regParam = _declared("regParam", TypeConverters.toFloat)
    offsetCol = _declared("offsetCol", TypeConverters.toString)
    idCol = _declared("idCol", TypeConverters.toString)
    ordering = _declared("ordering", TypeConverters.toString)
    backend = _declared("backend", TypeConverters.toString)
    method = _declared("method", TypeConverters.toString)
    rankTolerance = _declared("rankTolerance", TypeConverters.toFloat)
    profile = _declared("profile", TypeConverters.toBoolean)

    def getWeightCol(self) -> str | None:  # type: ignore[override]
        """The weight column; None if not set: all weights are 1."""
        return self.getOrDefault(self.weightCol) if self.isDefined("weightCol") else None

    def getFormula(self) -> str | None:
        """R's formula for response and terms and, after a bar, absorbed effects: ``log_wage ~ age + a:b + factor(year)
        + offset(z) | worker + firm``. None if not set: the features column."""
        return self.getOrDefault(self.formula) if self.isDefined("formula") else None

    def getCategoricalCols(self) -> list[str] | None:
        """Columns that are factors whatever their type, such as numbers that are codes. None if not set: strings and
        booleans of a formula."""
        return self.getOrDefault(self.categoricalCols) if self.isDefined("categoricalCols") else None

    def getReferenceLevels(self) -> list[str] | None:
        """Reference levels of factors, each as column=level. None if not set: the first level in ascending order."""
        return self.getOrDefault(self.referenceLevels) if self.isDefined("referenceLevels") else None

    def getHandleInvalid(self) -> str:
        """What to do with rows that lack a value (skip leaves them out as R does, keep makes missing a level of its
        own)."""
        return self.getOrDefault(self.handleInvalid)

    def getVcov(self) -> str | None:
        """Standard errors (iid for equal variances, HC0 to HC3 for any variances, cluster for errors correlated within
        clusters). None if not set: cluster if there are columns of clusters, else iid."""
        return self.getOrDefault(self.vcov) if self.isDefined("vcov") else None

    def getClusterCols(self) -> list[str] | None:
        """One or two columns of clusters, within which errors may be correlated. None if not set."""
        return self.getOrDefault(self.clusterCols) if self.isDefined("clusterCols") else None

    def getClusterCorrection(self) -> str:
        """Small-sample correction of clustered errors (fixest takes t with clusters - 1 degrees of freedom, sandwich
        is that of R's vcovCL)."""
        return self.getOrDefault(self.clusterCorrection)

    def getComputeStandardErrors(self) -> bool:
        """Whether to compute standard errors, which may cost as much as the fit."""
        return self.getOrDefault(self.computeStandardErrors)

    def getKeepTerms(self) -> list[str] | None:
        """Names of coefficients to keep if columns depend on each other, in order of priority. None if not set."""
        return self.getOrDefault(self.keepTerms) if self.isDefined("keepTerms") else None

    def getDropTerms(self) -> list[str] | None:
        """Names of coefficients to drop first if columns depend on each other; of the others later ones are dropped
        first, as in R's lm. None if not set."""
        return self.getOrDefault(self.dropTerms) if self.isDefined("dropTerms") else None

    def getFitIntercept(self) -> bool:
        """Whether to fit an intercept, which is never penalized; a formula decides that itself."""
        return self.getOrDefault(self.fitIntercept)

    def getRegParam(self) -> float:
        """Ridge parameter, at least 0, of 1/(2W) sum w (y - x'b - c)^2 + regParam/2 ||b||^2, W being the sum of the
        weights."""
        return self.getOrDefault(self.regParam)

    def getOffsetCol(self) -> str | None:
        """Column that is subtracted from the label and added to predictions. None if not set."""
        return self.getOrDefault(self.offsetCol) if self.isDefined("offsetCol") else None

    def getIdCol(self) -> str | None:
        """Column whose value identifies a rejected row in the error message. None if not set: partition, row and file
        alone."""
        return self.getOrDefault(self.idCol) if self.isDefined("idCol") else None

    def getOrdering(self) -> str:
        """Column order."""
        return self.getOrDefault(self.ordering)

    def getBackend(self) -> str:
        """What computes (cuda fails where there is no device)."""
        return self.getOrDefault(self.backend)

    def getMethod(self) -> str:
        """How fronts are factored."""
        return self.getOrDefault(self.method)

    def getRankTolerance(self) -> float | None:
        """A column whose remaining norm, after scaling, is at most this counts as dependent (R's lm: 1e-7); negative:
        no rank detection. None if not set: 20 (m+n) eps max ||a_j||."""
        return self.getOrDefault(self.rankTolerance) if self.isDefined("rankTolerance") else None

    def getProfile(self) -> bool:
        """Whether to record time and place of all work, for the report's page."""
        return self.getOrDefault(self.profile)


class RegressionSetters(RegressionParams):
    """Setters of the params that only an estimator has."""

    _set: Any

    def setFeaturesCol(self: _S, value: str) -> _S:
        """The vector column."""
        return self._set(featuresCol=value)

    def setLabelCol(self: _S, value: str) -> _S:
        """The label column."""
        return self._set(labelCol=value)

    def setPredictionCol(self: _S, value: str) -> _S:
        """The column added by transform."""
        return self._set(predictionCol=value)

    def setFormula(self: _S, value: str) -> _S:
        """R's formula for response and terms and, after a bar, absorbed effects: ``log_wage ~ age + a:b + factor(year)
        + offset(z) | worker + firm``. Default: the features column."""
        return self._set(formula=value)

    def setWeightCol(self: _S, value: str) -> _S:
        """Column of the rows' weights, each at least 0. Default: all weights are 1."""
        return self._set(weightCol=value)

    def setCategoricalCols(self: _S, value: list[str]) -> _S:
        """Columns that are factors whatever their type, such as numbers that are codes. Default: strings and booleans
        of a formula."""
        return self._set(categoricalCols=value)

    def setReferenceLevels(self: _S, value: list[str]) -> _S:
        """Reference levels of factors, each as column=level. Default: the first level in ascending order."""
        return self._set(referenceLevels=value)

    def setHandleInvalid(self: _S, value: str) -> _S:
        """What to do with rows that lack a value (skip leaves them out as R does, keep makes missing a level of its
        own)."""
        return self._set(handleInvalid=value)

    def setVcov(self: _S, value: str) -> _S:
        """Standard errors (iid for equal variances, HC0 to HC3 for any variances, cluster for errors correlated within
        clusters). Default: cluster if there are columns of clusters, else iid."""
        return self._set(vcov=value)

    def setClusterCols(self: _S, value: list[str]) -> _S:
        """One or two columns of clusters, within which errors may be correlated. Default: none."""
        return self._set(clusterCols=value)

    def setClusterCorrection(self: _S, value: str) -> _S:
        """Small-sample correction of clustered errors (fixest takes t with clusters - 1 degrees of freedom, sandwich
        is that of R's vcovCL)."""
        return self._set(clusterCorrection=value)

    def setComputeStandardErrors(self: _S, value: bool) -> _S:
        """Whether to compute standard errors, which may cost as much as the fit."""
        return self._set(computeStandardErrors=value)

    def setKeepTerms(self: _S, value: list[str]) -> _S:
        """Names of coefficients to keep if columns depend on each other, in order of priority. Default: none."""
        return self._set(keepTerms=value)

    def setDropTerms(self: _S, value: list[str]) -> _S:
        """Names of coefficients to drop first if columns depend on each other; of the others later ones are dropped
        first, as in R's lm. Default: none."""
        return self._set(dropTerms=value)

    def setFitIntercept(self: _S, value: bool) -> _S:
        """Whether to fit an intercept, which is never penalized; a formula decides that itself."""
        return self._set(fitIntercept=value)

    def setRegParam(self: _S, value: float) -> _S:
        """Ridge parameter, at least 0, of 1/(2W) sum w (y - x'b - c)^2 + regParam/2 ||b||^2, W being the sum of the
        weights."""
        return self._set(regParam=value)

    def setOffsetCol(self: _S, value: str) -> _S:
        """Column that is subtracted from the label and added to predictions. Default: none."""
        return self._set(offsetCol=value)

    def setIdCol(self: _S, value: str) -> _S:
        """Column whose value identifies a rejected row in the error message. Default: partition, row and file
        alone."""
        return self._set(idCol=value)

    def setOrdering(self: _S, value: str) -> _S:
        """Column order."""
        return self._set(ordering=value)

    def setBackend(self: _S, value: str) -> _S:
        """What computes (cuda fails where there is no device)."""
        return self._set(backend=value)

    def setMethod(self: _S, value: str) -> _S:
        """How fronts are factored."""
        return self._set(method=value)

    def setRankTolerance(self: _S, value: float) -> _S:
        """A column whose remaining norm, after scaling, is at most this counts as dependent (R's lm: 1e-7); negative:
        no rank detection. Default: 20 (m+n) eps max ||a_j||."""
        return self._set(rankTolerance=value)

    def setProfile(self: _S, value: bool) -> _S:
        """Whether to record time and place of all work, for the report's page."""
        return self._set(profile=value)
