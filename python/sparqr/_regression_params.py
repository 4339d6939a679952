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

from sparqr._declared import OPTIONS

_S = TypeVar("_S", bound="RegressionSetters")


def _of_solver(name: str, converter: Any) -> Any:
    """A param that is an option of the solver."""
    option = next(o for o in OPTIONS.values() if o.java == name)
    words = f": {', '.join(option.values)}" if isinstance(option.values, tuple) else ""
    return Param(Params._dummy(), name, option.meaning + words, typeConverter=converter)


def solver_defaults() -> dict[str, Any]:
    """The defaults of the params that are options of the solver, of those that have one."""
    return {
        option.java: option.default
        for option in OPTIONS.values()
        if hasattr(RegressionParams, option.java) and option.default is not None
    }


class RegressionParams(
    HasFeaturesCol,
    HasLabelCol,
    HasPredictionCol,
    HasWeightCol,
    HasFitIntercept,
    HasRegParam,
):
    ordering = _of_solver("ordering", TypeConverters.toString)
    backend = _of_solver("backend", TypeConverters.toString)
    rankTolerance = _of_solver("rankTolerance", TypeConverters.toFloat)
    profile = _of_solver("profile", TypeConverters.toBoolean)
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
        "small-sample correction of clustered errors: fixest, sandwich or none",
        typeConverter=TypeConverters.toString,
    )

    def getKeepTerms(self) -> list[str] | None:
        """Coefficients to keep; None if not set."""
        return self.getOrDefault(self.keepTerms) if self.isDefined("keepTerms") else None

    def getDropTerms(self) -> list[str] | None:
        """Coefficients to drop first; None if not set."""
        return self.getOrDefault(self.dropTerms) if self.isDefined("dropTerms") else None

    def getVcov(self) -> str | None:
        """The assumption behind the standard errors; None if not set."""
        return self.getOrDefault(self.vcov) if self.isDefined("vcov") else None

    def getClusterCols(self) -> list[str] | None:
        """The columns of clusters; None if not set."""
        return self.getOrDefault(self.clusterCols) if self.isDefined("clusterCols") else None

    def getClusterCorrection(self) -> str:
        """The small-sample correction of clustered errors."""
        return self.getOrDefault(self.clusterCorrection)

    def getFormula(self) -> str | None:
        """The formula; None if not set."""
        return self.getOrDefault(self.formula) if self.isDefined("formula") else None

    def getCategoricalCols(self) -> list[str] | None:
        """Columns to be used as factors; None if not set."""
        return self.getOrDefault(self.categoricalCols) if self.isDefined("categoricalCols") else None

    def getReferenceLevels(self) -> list[str] | None:
        """The reference levels; None if not set."""
        return self.getOrDefault(self.referenceLevels) if self.isDefined("referenceLevels") else None

    def getOffsetCol(self) -> str | None:
        """The offset column; None if not set."""
        return self.getOrDefault(self.offsetCol) if self.isDefined("offsetCol") else None

    def getHandleInvalid(self) -> str:
        """How rows with missing values are handled."""
        return self.getOrDefault(self.handleInvalid)

    def getOrdering(self) -> str:
        """The column order."""
        return self.getOrDefault(self.ordering)

    def getBackend(self) -> str:
        """The backend."""
        return self.getOrDefault(self.backend)

    def getRankTolerance(self) -> float | None:
        """The threshold of dependent columns; None if not set, which means ``20 (m + n) eps``."""
        return self.getOrDefault(self.rankTolerance) if self.isDefined("rankTolerance") else None

    def getWeightCol(self) -> str | None:  # type: ignore[override]
        """The weight column; None if not set: all weights are 1."""
        return self.getOrDefault(self.weightCol) if self.isDefined("weightCol") else None

    def getIdCol(self) -> str | None:
        """The column that identifies a row in error messages; None if not set."""
        return self.getOrDefault(self.idCol) if self.isDefined("idCol") else None

    def getProfile(self) -> bool:
        """Whether a fit records the times and places of all work."""
        return self.getOrDefault(self.profile)

    def getComputeStandardErrors(self) -> bool:
        """Whether fit computes standard errors."""
        return self.getOrDefault(self.computeStandardErrors)


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

    def setWeightCol(self: _S, value: str) -> _S:
        """The weight column."""
        return self._set(weightCol=value)

    def setFitIntercept(self: _S, value: bool) -> _S:
        """Whether there is an intercept."""
        return self._set(fitIntercept=value)

    def setRegParam(self: _S, value: float) -> _S:
        """The ridge parameter."""
        return self._set(regParam=value)

    def setOrdering(self: _S, value: str) -> _S:
        """The column order."""
        return self._set(ordering=value)

    def setBackend(self: _S, value: str) -> _S:
        """The backend."""
        return self._set(backend=value)

    def setRankTolerance(self: _S, value: float) -> _S:
        """The threshold of dependent columns."""
        return self._set(rankTolerance=value)

    def setFormula(self: _S, value: str) -> _S:
        """R's formula."""
        return self._set(formula=value)

    def setCategoricalCols(self: _S, value: list[str]) -> _S:
        """Columns to be used as factors."""
        return self._set(categoricalCols=value)

    def setReferenceLevels(self: _S, value: list[str]) -> _S:
        """The reference levels, each as column=level."""
        return self._set(referenceLevels=value)

    def setOffsetCol(self: _S, value: str) -> _S:
        """The offset column."""
        return self._set(offsetCol=value)

    def setKeepTerms(self: _S, value: list[str]) -> _S:
        """Coefficients to keep."""
        return self._set(keepTerms=value)

    def setDropTerms(self: _S, value: list[str]) -> _S:
        """Coefficients to drop first."""
        return self._set(dropTerms=value)

    def setVcov(self: _S, value: str) -> _S:
        """The assumption behind the standard errors."""
        return self._set(vcov=value)

    def setClusterCols(self: _S, value: list[str]) -> _S:
        """The columns of clusters."""
        return self._set(clusterCols=value)

    def setClusterCorrection(self: _S, value: str) -> _S:
        """The small-sample correction of clustered errors."""
        return self._set(clusterCorrection=value)

    def setHandleInvalid(self: _S, value: str) -> _S:
        """How rows with missing values are handled."""
        return self._set(handleInvalid=value)

    def setIdCol(self: _S, value: str) -> _S:
        """The column that identifies a row in error messages."""
        return self._set(idCol=value)

    def setComputeStandardErrors(self: _S, value: bool) -> _S:
        """Whether fit computes standard errors."""
        return self._set(computeStandardErrors=value)

    def setProfile(self: _S, value: bool) -> _S:
        """Whether a fit records the times and places of all work, for
        :meth:`SparseQRRegressionSummary.to_html`.
        """
        return self._set(profile=value)
