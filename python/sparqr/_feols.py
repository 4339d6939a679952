# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Linear regression by a formula, with absorbed effects and robust or clustered errors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from sparqr._arrays import active_session
from sparqr._calls import in_thread
from sparqr._display import html_table
from sparqr._frame import require_jvm_frame
from sparqr._jvm import doubles, java_class
from sparqr._sample import Variable, local_rows, spark_rows, variables
from sparqr._tables import column_names, crossing, library, require_arrow, to_spark
from sparqr._tables import doubles as column_of

if TYPE_CHECKING:
    import numpy
    import pandas
    from pyspark.sql import DataFrame, SparkSession

    from sparqr.ml import SparseQRRegressionModel

_STRINGS = {"iid": "iid", "hetero": "HC1", "HC0": "HC0", "HC1": "HC1", "HC2": "HC2", "HC3": "HC3"}
_CORRECTIONS = ("fixest", "sandwich", "none")
_SINGLETONS = ("singleton", "none")

# fixest's own, which is what cluster_correction="fixest" does.
_SSC = {"k_adj": True, "k_fixef": "nonnested", "G_adj": True, "G_df": "min"}

# What pyfixest takes and this does not.
_ELSEWHERE = {
    "vcov_kwargs": "errors robust to autocorrelation (NW, DK) are not there",
    "weights_type": "weights are those of variances (aweights); repeat the rows for frequencies",
    "split": "one sample a call: data.filter(...)",
    "fsplit": "one sample a call: data.filter(...)",
    "demeaner": "effects are eliminated exactly, nothing iterates",
    "demeaner_backend": "effects are eliminated exactly, nothing iterates",
    "fixef_tol": "effects are eliminated exactly, nothing iterates",
    "fixef_maxiter": "effects are eliminated exactly, nothing iterates",
    "solver": "the solver is a sparse QR factorization",
    "collin_tol": "rank_tolerance is the threshold here",
    "drop_intercept": "write ~ 0 + ... in the formula",
    "use_compression": "equal rows need no treatment of their own",
    "reps": "there is no bootstrap",
    "seed": "there is no bootstrap",
    "context": "functions of one's own are not known: make a column of their values",
    "copy_data": "data are never changed",
    "store_data": "residuals and predictions are computed when they are asked for",
    "lean": "residuals and predictions are computed when they are asked for",
}

_PREDICTION = "__sparqr_prediction"
_INTERCEPT = "(Intercept)"


def feols(
    formula: str,
    data: Any,
    vcov: str | Mapping[str, str] | None = None,
    weights: str | None = None,
    *,
    cluster_correction: str = "fixest",
    ssc: Mapping[str, Any] | None = None,
    fixef_rm: str = "singleton",
    categorical: Sequence[str] = (),
    references: Mapping[str, Any] | None = None,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    ordering: str = "auto",
    backend: str = "auto",
    rank_tolerance: float | None = None,
    **others: Any,
) -> Feols:
    """Linear regression as fixest's and pyfixest's ``feols``, exactly, by sparse QR on Spark.

    >>> fit = sparqr.feols("log_wage ~ age + tenure | worker + firm", df, vcov={"CRV1": "worker"})
    >>> fit.tidy()

    Absorbed effects are eliminated exactly: coefficients and errors are those that their dummies
    would give, to rounding. Rows that lack a value in a column that is used are left out, an infinite
    value is an error. Coefficients have R's names, ``(Intercept)``, ``firmbolt``, ``age:firmbolt``.

    Parameters
    ----------
    formula : str
        ``response ~ terms | absorbed``: ``+ - : * ^ ( ) . 0 1``, ``offset(x)``, ``factor(x)`` or
        ``C(x)``, ``log``, ``sqrt``, ``exp`` and the like of one column, and behind the bar ``a^b``
        for the combinations of two. Texts and truth values are factors.
    data : pyspark.sql.DataFrame, pyspark.pandas.DataFrame, pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The data. Tables that are here cross into Spark as Arrow, the columns that are used alone;
        categorical columns are factors, whose first category is the reference.
    vcov : str or dict, optional
        ``"iid"`` (default), ``"hetero"`` or ``"HC1"``, ``"HC0"``, ``"HC2"``, ``"HC3"``,
        ``{"CRV1": "worker"}`` or two ways, ``{"CRV1": "worker + firm"}``. HC2 and HC3 are MacKinnon
        and White's, as sandwich's and statsmodels'; pyfixest multiplies their variances by n / (n - k).
    weights : str, optional
        Column of weights, inverse to the errors' variances.
    cluster_correction : {"fixest", "sandwich", "none"}
        Small-sample correction of clustered errors. "fixest" is that of fixest and pyfixest: G / (G - 1)
        of the way with the fewest clusters, (n - 1) / (n - k), where k leaves out effects that are nested
        in clusters, and t of G - 1 degrees of freedom. "sandwich" is that of R's vcovCL. The number of
        effects is the rank of their dummies, exactly, where fixest takes levels less one a factor:
        the two differ where the effects' graph is not connected.
    ssc : dict, optional
        pyfixest's; its default alone, or None.
    fixef_rm : {"singleton", "none"}
        Whether rows that are alone with an absorbed effect are left out, as pyfixest does. They have no
        part in coefficients and iid errors, but in n and in the number of clusters. On Spark's
        DataFrames that costs counts of the levels.
    categorical : sequence of str
        Columns of numbers that are factors.
    references : dict, optional
        Reference levels by column. Default: the first in ascending order.
    keep, drop : sequence of str
        Names of coefficients that stay, or go first, where columns depend on each other. Of the others
        the later go.
    ordering : {"auto", "colamd", "amd", "nd", "natural", "best"}
        Column order of the factorization.
    backend : {"auto", "cpu", "cuda"}
        "cuda" fails where there is no device.
    rank_tolerance : float, optional
        A column whose remaining norm is at most this is dead.
    **others
        None: pyfixest's other options are refused, each with what there is instead.

    Returns
    -------
    Feols

    Raises
    ------
    ValueError
        A formula, a column, a level or an option that is not there.
    TypeError
        No table.
    SparqrError
        What :func:`sparqr.solve` raises: an infinite value, data that changed, no CUDA device, ...
    """
    require_arrow("feols")
    _refuse(formula, ssc, others)
    if cluster_correction not in _CORRECTIONS:
        raise ValueError(f"cluster_correction {cluster_correction!r} is none of {', '.join(_CORRECTIONS)}")
    if fixef_rm not in _SINGLETONS:
        raise ValueError(f"fixef_rm {fixef_rm!r} is none of {', '.join(_SINGLETONS)}")
    kind, clusters = parsed_vcov(vcov)
    source = _Source.of(data)
    extra = [*([] if weights is None else [weights]), *clusters]

    def work() -> Feols:
        found = _told(lambda: variables(source.spark._jvm, formula, source.dot(extra)))
        rows = source.rows(found, extra, fixef_rm == "singleton")
        try:
            options: dict[str, Any] = {
                "formula": formula,
                "handleInvalid": "skip",
                "predictionCol": _PREDICTION,
                "categoricalCols": list(dict.fromkeys([*categorical, *rows.factors])),
                "referenceLevels": _references(rows.references, references or {}, found),
                "weightCol": weights,
                "vcov": "cluster" if clusters else kind,
                "clusterCols": clusters or None,
                "clusterCorrection": cluster_correction,
                "keepTerms": list(keep) or None,
                "dropTerms": list(drop) or None,
                "ordering": ordering,
                "backend": backend,
                "rankTolerance": rank_tolerance,
            }
            from sparqr.ml import SparseQRRegression

            estimator = SparseQRRegression(**{k: v for k, v in options.items() if v not in (None, [])})
            model = _told(lambda: estimator.fit(rows.frame))
        finally:
            rows.release()
        return Feols(formula, _Fitted(model, rows, found, kind, clusters))

    made: Feols = in_thread(source.spark, "sparqr.feols", work)
    return made


def parsed_vcov(vcov: str | Mapping[str, str] | None) -> tuple[str, list[str]]:
    """What errors assume, and the columns of clusters.

    Parameters
    ----------
    vcov : str, dict or None
        As pyfixest has it.

    Raises
    ------
    ValueError
        What there is not.
    """
    known = ', '.join(_STRINGS) + ', {"CRV1": "column"} and {"CRV1": "column + column"}'
    if vcov is None:
        return "iid", []
    if isinstance(vcov, str):
        if vcov not in _STRINGS:
            raise ValueError(f"vcov {vcov!r} is not there; there are {known}")
        return _STRINGS[vcov], []
    if not isinstance(vcov, Mapping) or len(vcov) != 1:
        raise ValueError(f"vcov {vcov!r} is none of {known}")
    ((kind, by),) = vcov.items()
    if kind == "CRV3":
        raise ValueError("vcov CRV3, a jackknife over clusters, is not there: take CRV1")
    if kind != "CRV1" or not isinstance(by, str):
        raise ValueError(f"vcov {dict(vcov)!r} is not there; there are {known}")
    columns = [part.strip().strip("`") for part in by.split("+")]
    if not all(columns) or len(columns) > 2 or len(set(columns)) < len(columns):
        raise ValueError(f"vcov {dict(vcov)!r}: one column of clusters, or two different ones")
    return "CRV1", columns


def _refuse(formula: str, ssc: Mapping[str, Any] | None, others: Mapping[str, Any]) -> None:
    for name in others:
        if name not in _ELSEWHERE:
            raise TypeError(f"feols() got an unexpected keyword argument {name!r}")
        raise ValueError(f"{name} is pyfixest's: {_ELSEWHERE[name]}")
    if ssc is not None and {**_SSC, **ssc} != _SSC:
        raise ValueError(
            f"ssc {dict(ssc)!r} is not there: cluster_correction is one of {', '.join(_CORRECTIONS)}, "
            '"fixest" being ssc() with its defaults'
        )
    if not isinstance(formula, str):
        raise TypeError(f"the formula is a text, not a {type(formula).__name__}")
    plain = re.sub(r"`[^`]*`", "x", formula)
    if plain.count("|") > 1 or plain.count("~") > 1:
        raise ValueError(f"formula {formula!r}: instrumental variables are not there")
    several = re.search(r"\b(c?sw0?|mvsw)\s*\(", plain)
    if several or "+" in plain.split("~")[0]:
        raise ValueError(f"formula {formula!r} is of several models: one a call")
    if re.search(r"(?<![\w.])i\s*\(", plain):
        raise ValueError(f"formula {formula!r}: i() is not there: C(x), x:y and references={{column: level}} are")


def _references(
    of_categories: Mapping[str, str], asked: Mapping[str, Any], found: Sequence[Variable]
) -> list[str]:
    factors = {v.column for v in found if not v.absorbed and not v.response}
    known = {c: level for c, level in of_categories.items() if c in factors}
    known.update({c: str(level) for c, level in asked.items()})
    return [f"{column}={level}" for column, level in known.items()]


def _told(work: Callable[[], Any]) -> Any:
    """What the JVM calls an illegal argument as ValueError."""
    from pyspark.errors import IllegalArgumentException

    try:
        return work()
    except IllegalArgumentException as e:
        message = str(e).strip().splitlines()[0]
    raise ValueError(message)


@dataclass
class _Rows:
    """What is fitted."""

    frame: DataFrame
    factors: list[str]
    references: dict[str, str]
    kept: Any = None
    cached: Sequence[DataFrame] = ()

    def release(self) -> None:
        for frame in self.cached:
            frame.unpersist()


class _Source:
    """Data as they came: a table that is here, or a DataFrame of Spark's."""

    def __init__(self, data: Any, spark: SparkSession, local: bool):
        self.data, self.spark, self.local = data, spark, local

    @staticmethod
    def of(data: Any) -> _Source:
        if library(data):
            return _Source(data, active_session("table"), True)
        if any(c.__module__.startswith("pyspark.pandas") for c in type(data).__mro__) and hasattr(
            data, "to_spark"
        ):
            data = data.to_spark()
        require_jvm_frame(data)
        return _Source(data, data.sparkSession, False)

    def dot(self, without: Sequence[str]) -> list[str]:
        """What a dot in a formula stands for."""
        names = column_names(self.data) if self.local else self.data.columns
        return [name for name in names if name not in without]

    def rows(self, found: Sequence[Variable], extra: Sequence[str], alone: bool) -> _Rows:
        """The columns that are used, and the rows: without those that are alone, if they are to go."""
        columns = list(dict.fromkeys([*(v.column for v in found), *extra]))
        if not self.local:
            names = self.data.columns
            for column in columns:
                if column not in names:
                    raise ValueError(f"no column {column}; there are {', '.join(names)}")
            frame, cached = spark_rows(self.data, found, extra) if alone else (self.data, [])
            return _Rows(frame, [], {}, None, cached)
        crossed = crossing(self.data, columns)
        kept = local_rows(crossed.table, found, extra, not alone)
        table = crossed.table if kept.all() else crossed.table.filter(kept)
        if table.num_rows == 0:
            raise ValueError("no row has a value in all columns that are used")
        return _Rows(to_spark(self.spark, table), crossed.factors, crossed.references, kept)


@dataclass
class _Fitted:
    """What a fit made, for :class:`Feols`."""

    model: SparseQRRegressionModel
    rows: _Rows
    variables: Sequence[Variable]
    kind: str
    clusters: Sequence[str]


class Feols:
    """What :func:`feols` returns; names as pyfixest's.

    Attributes
    ----------
    formula : str
        As it was given.
    nobs : int
        Rows of the fit.
    rank : int
        Parameters, absorbed effects included.
    df_residual : int
        Rows less rank.
    df_t : float
        Degrees of freedom of t: as many, or clusters - 1.
    r2, r2_adj : float
        Coefficient of determination, and that adjusted.
    r2_within : float
        1 - rss / rss of the absorbed effects alone; NaN without any.
    rmse : float
        Root of the mean of the (weighted) squared residuals.
    sigma : float
        Residual standard error.
    dropped : list of str
        Coefficients that are not defined: their columns depend on others.
    vcov_type : str
        "iid", "HC0" to "HC3" or "CRV1".
    vcov_detail : str
        What the errors assume, with clusters and corrections; empty for "iid".
    """

    def __init__(self, formula: str, fitted: _Fitted):
        self.formula = formula
        self.vcov_type = fitted.kind
        self._clusters = list(fitted.clusters)
        self._model, self._rows, self._variables = fitted.model, fitted.rows, fitted.variables
        self._spark = fitted.rows.frame.sparkSession
        # the JVM lets its object go with this
        self._summary = fitted.model.summary
        java = self._java = self._summary._java_obj
        self.nobs = int(java.numInstances())
        self.rank = int(java.rank())
        self.df_residual = int(java.degreesOfFreedom())
        self.df_t = float(java.testDegreesOfFreedom())
        self.r2, self.r2_adj = float(java.r2()), float(java.r2adj())
        self.r2_within = float(java.r2Within())
        self.sigma = float(java.sigma())
        self.rmse = self.sigma * (self.df_residual / self.nobs) ** 0.5
        self.vcov_detail = str(java.standardErrorsAssume())
        self._table, self.dropped = self._coefficients()

    def _coefficients(self) -> tuple[pandas.DataFrame, list[str]]:
        table = self._summary.toDataFrame().toArrow().to_pandas()
        table.columns = ["Coefficient", "Estimate", "Std. Error", "t value", "Pr(>|t|)"]
        table = table.set_index("Coefficient").astype(float)
        gone = table["Estimate"].isna()
        self._covariance = self._covariances(list(table.index))
        return table[~gone], list(table.index[gone])

    def _covariances(self, names: list[str]) -> pandas.DataFrame | None:
        import pandas

        if not self._java.hasCoefficientCovariance():
            return None
        jvm = self._spark._jvm
        support = java_class(jvm, "io.sparqr.spark.python.PythonSupport")
        values = doubles(jvm, support.flat(self._java.coefficientCovariance()))
        # the JVM has the intercept last
        order = [*names[1:], names[0]] if names[0] == _INTERCEPT else names
        return pandas.DataFrame(values.reshape(len(names), -1), index=order, columns=order)

    def coef(self) -> pandas.Series:
        """Estimates by name, shape (k,)."""
        return self._table["Estimate"].copy()

    def se(self) -> pandas.Series:
        """Standard errors by name, shape (k,)."""
        return self._table["Std. Error"].copy()

    def tstat(self) -> pandas.Series:
        """Estimates by standard errors, shape (k,)."""
        return self._table["t value"].copy()

    def pvalue(self) -> pandas.Series:
        """Two-sided p values of t with ``df_t`` degrees of freedom, shape (k,)."""
        return self._table["Pr(>|t|)"].copy()

    def confint(self, alpha: float = 0.05) -> pandas.DataFrame:
        """Ends of the confidence intervals of level 1 - alpha, shape (k, 2).

        Parameters
        ----------
        alpha : float
            Within (0, 1).
        """
        import pandas

        if not 0 < alpha < 1:
            raise ValueError(f"alpha {alpha} is not within (0, 1)")
        half = float(self._java.criticalValue(1 - float(alpha))) * self._table["Std. Error"]
        ends = (alpha / 2, 1 - alpha / 2)
        names = [f"{100 * end:.10g}%" for end in ends]
        estimate = self._table["Estimate"]
        return pandas.DataFrame({names[0]: estimate - half, names[1]: estimate + half})

    def vcov(self) -> pandas.DataFrame:
        """The covariance of the coefficients, shape (k, k).

        Raises
        ------
        ValueError
            Of more than 64 coefficients: their standard errors come without covariances.
        """
        if self._covariance is None:
            raise ValueError(
                f"{len(self._table):,} coefficients, and covariances come with 64 at most: absorb the effects "
                "that are not asked for, y ~ x | effects"
            )
        return self._covariance.loc[self._table.index, self._table.index]

    def tidy(self, alpha: float = 0.05) -> pandas.DataFrame:
        """Estimate, Std. Error, t value, Pr(>|t|) and the ends of the confidence interval.

        Parameters
        ----------
        alpha : float
            The intervals' level is 1 - alpha.
        """
        return self._table.join(self.confint(alpha))

    def to_pandas(self) -> pandas.DataFrame:
        """:meth:`tidy`, for whoever expects this name."""
        return self.tidy()

    def resid(self) -> numpy.ndarray | DataFrame:
        """Response less prediction of the rows of the fit.

        Returns
        -------
        numpy.ndarray or pyspark.sql.DataFrame
            Shape (nobs,), the rows in their order, where the data were a table here; a DataFrame of one
            column, ``residuals``, where they were Spark's.
        """
        return self._of_rows("residuals", lambda: self._summary.residuals)

    def fitted(self) -> numpy.ndarray | DataFrame:
        """Predictions of the rows of the fit, as :meth:`resid` returns them."""
        return self.predict()

    def predict(self, newdata: Any = None, name: str = "prediction") -> numpy.ndarray | DataFrame:
        """Predictions, absorbed effects and offset included.

        Parameters
        ----------
        newdata : optional
            A table of any kind that :func:`feols` takes. Default: the rows of the fit.
        name : str
            Name of the column that a DataFrame of Spark's gets.

        Returns
        -------
        numpy.ndarray or pyspark.sql.DataFrame
            Shape (rows,) for a table that is here, NaN where a value is missing or a level was not in
            the fit; newdata with one more column for Spark's.
        """
        if newdata is None:
            if self._rows.kept is None:
                return self._predicted(self._rows.frame, name)
            frame = self._rows.frame
            return self._of_rows("predictions", lambda: self._predicted(frame, name).select(name))
        source = _Source.of(newdata)
        if not source.local:
            return self._predicted(source.data, name)
        columns = list(dict.fromkeys(v.column for v in self._variables if not v.response))
        if not columns:
            import numpy

            return numpy.full(len(newdata), float(self._table["Estimate"].get(_INTERCEPT, 0.0)))
        frame = to_spark(self._spark, crossing(newdata, columns).table)
        return self._collected("predict", lambda: self._predicted(frame, name).select(name))

    def _predicted(self, frame: DataFrame, name: str) -> DataFrame:
        from pyspark.sql import DataFrame

        if name in frame.columns:
            raise ValueError(f"there is a column {name} already: predict(newdata, name=...)")
        java: Any = self._model._java_obj
        made = _told(lambda: java.transformAll(frame._jdf))
        return DataFrame(made, frame.sparkSession).withColumnRenamed(_PREDICTION, name)

    def _of_rows(self, what: str, frame: Callable[[], DataFrame]) -> numpy.ndarray | DataFrame:
        return frame() if self._rows.kept is None else self._collected(what, frame)

    def _collected(self, what: str, frame: Callable[[], DataFrame]) -> numpy.ndarray:
        found: numpy.ndarray = in_thread(self._spark, f"Feols.{what}", lambda: column_of(frame()))
        return found

    def fixef(self) -> dict[str, pandas.Series]:
        """The absorbed effects by factor and level.

        The first factor has all its levels, the others all but their first, which is 0: as pyfixest's.
        Where effects depend on each other otherwise, those that went are NaN.

        Returns
        -------
        dict of str to pandas.Series
            By the factors' names, in the formula's order.
        """
        factors = list(self._java.absorbedFactors())
        if not factors:
            return {}
        table = in_thread(
            self._spark, "Feols.fixef", lambda: self._summary.absorbedEffects().toArrow().to_pandas()
        )
        effects = {}
        at = 0
        terms = sorted({t for v in self._variables for t in v.absorbed})
        for term, factor in zip(terms, factors):
            parts = [v.column for v in self._variables if term in v.absorbed]
            name = ":".join(parts)
            some = table.iloc[at : at + factor.columns()]
            at += factor.columns()
            values = some.set_index("term")["estimate"].astype(float)
            values.name = "Estimate"
            values.index.name = name
            if len(parts) == 1:
                written = next(v.name for v in self._variables if term in v.absorbed)
                values.index = values.index.str.slice(len(written))
                values.index.name = name
            effects[name] = values
        return effects

    def _title(self) -> list[str]:
        response, _, right = self.formula.partition("~")
        effects = right.partition("|")[2].strip()
        lines = [f"Dep. var.: {response.strip()}" + (f", Fixed effects: {effects}" if effects else "")]
        by = f" ({' + '.join(self._clusters)})" if self._clusters else ""
        detail = f": {self.vcov_detail}" if self._clusters else ""
        lines.append(f"Inference: {self.vcov_type}{by}{detail}")
        lines.append(f"Observations: {self.nobs:,}")
        return lines

    def _footer(self) -> str:
        text = f"RMSE: {self.rmse:.4g}  R2: {self.r2:.4g}"
        return text if self.r2_within != self.r2_within else f"{text}  R2 within: {self.r2_within:.4g}"

    def __str__(self) -> str:
        lines = ["Estimation: OLS, by sparse QR", *self._title(), ""]
        lines.append(self.tidy().to_string(max_rows=60, float_format=lambda v: f"{v:.6g}"))
        lines += ["---", self._footer()]
        if self.dropped:
            lines.append(_dropped(self.dropped))
        return "\n".join(lines)

    def summary(self) -> None:
        """Prints the table, with what it assumes above and how well it fits below."""
        print(self)

    def __repr__(self) -> str:
        return f"Feols({self.formula!r}, nobs={self.nobs}, coefficients={len(self._table)}, vcov={self.vcov_type!r})"

    def _repr_html_(self) -> str:
        table = self.tidy()
        rows = ([name, *map(float, values)] for name, *values in table.head(100).itertuples())
        notes = [*self._title()[1:], self._footer()]
        if self.dropped:
            notes.append(_dropped(self.dropped))
        return html_table(self.formula, ["Coefficient", *table.columns], rows, notes, len(table))


def _dropped(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10:,} more" if len(names) > 10 else ""
    return f"Not defined, because their columns depend on others: {', '.join(names[:10])}{more}"

