# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Results of a regression by a formula."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from sparqr._calls import in_thread, require_running
from sparqr._display import html_table
from sparqr._errors import SparqrError
from sparqr._feols_rows import Source
from sparqr._hypotheses import contrast, contrast_matrix, wald
from sparqr._predictions import checked
from sparqr._sample import Variable, absorbed_columns
from sparqr._tables import crossing, to_spark
from sparqr._tables import doubles as column_of

if TYPE_CHECKING:
    import numpy
    import pandas
    from pyspark.sql import DataFrame

    from sparqr._feols_rows import Rows
    from sparqr.ml import SparseQRRegressionModel

PREDICTION = "__sparqr_prediction"
_INTERCEPT = "(Intercept)"

# What the columns of a prediction are called in Spark, after its name, and in a local table.
_PARTS = {"": "fit", "_se": "se_fit", "_low": "ci_low", "_high": "ci_high"}


def told(work: Callable[[], Any]) -> Any:
    """Runs work; an illegal argument in the JVM becomes a ValueError."""
    from pyspark.errors import IllegalArgumentException

    try:
        return work()
    except IllegalArgumentException as e:
        message = str(e).strip().splitlines()[0]
    except SparqrError as e:  # the same error from a Spark Connect server
        if e.kind != "IllegalArgumentException":
            raise
        message = str(e)
    raise ValueError(message)


@dataclass
class Fitted:
    """The parts of a fit, for :class:`Feols`."""

    model: SparseQRRegressionModel
    rows: Rows
    variables: Sequence[Variable]
    kind: str
    clusters: Sequence[str]


class Feols:
    """Result of :func:`feols`, with pyfixest's names.

    Attributes
    ----------
    formula : str
        The formula given.
    nobs : int
        Rows of the fit.
    rank : int
        Parameters, absorbed effects included.
    df_residual : int
        Rows less rank.
    df_t : float
        Degrees of freedom of t: df_residual, or clusters - 1.
    r2, r2_adj : float
        Coefficient of determination, plain and adjusted.
    r2_within : float
        1 - rss / rss of the absorbed effects alone; NaN without any.
    rmse : float
        Root of the mean of the (weighted) squared residuals.
    sigma : float
        Residual standard error.
    f_statistic : float
        F of all coefficients but the intercept: with robust or clustered errors Wald's by these errors, otherwise
        that of the sums of squares, in which absorbed effects count as coefficients.
    f_df : tuple of int and float
        Its degrees of freedom.
    f_pvalue : float
        Probability of an F at least as large.
    left_out : str
        How many rows of the data are not in the fit, and why; empty if all are.
    effects : dict of str to int
        The absorbed effects with their numbers of levels.
    warnings : list of str
        What to know before the figures are believed: a perfect fit, a constant label, nearly dependent columns, ...
    dropped : list of str
        Undefined coefficients: their columns depend on others, absorbed effects standing before all of them.
    vcov_type : str
        "iid", "HC0" to "HC3" or "CRV1".
    vcov_detail : str
        Description of the assumption on the errors, with clusters and corrections; empty for "iid".
    """

    def __init__(self, formula: str, fitted: Fitted):
        self.formula = formula
        self.vcov_type = fitted.kind
        self._clusters = list(fitted.clusters)
        self._model, self._rows, self._variables = fitted.model, fitted.rows, fitted.variables
        self._spark = fitted.rows.frame.sparkSession
        told_of = fitted.model._asked("inference", level=0.95)
        self.nobs = int(told_of["numInstances"][0])
        self.rank = int(told_of["rank"][0])
        self.df_residual = int(told_of["degreesOfFreedom"][0])
        self.df_t, self.sigma, self.r2, self.r2_adj, self.r2_within = (
            float(told_of[name][0])
            for name in ("testDegreesOfFreedom", "sigma", "r2", "r2adj", "r2Within")
        )
        self.rmse = self.sigma * (self.df_residual / self.nobs) ** 0.5
        self.vcov_detail = told_of["standardErrorsAssume"]
        self.f_statistic, self.f_pvalue = (float(told_of[name][0]) for name in ("fStatistic", "fPValue"))
        self.f_df = (
            int(told_of["fModelDegreesOfFreedom"][0]),
            float(told_of["fResidualDegreesOfFreedom"][0]),
        )
        self.left_out = "; ".join(t for t in (told_of["leftOut"], fitted.rows.left_out) if t)
        self.warnings = told_of["warnings"].splitlines()
        terms = absorbed_columns(self._variables)
        self.effects = {
            "^".join(columns): int(count) for columns, count in zip(terms, told_of["absorbedLevels"])
        }
        # one count per absorbed factor
        self._levels = [int(count) for count in told_of["absorbedColumns"]]
        self._table, self.dropped = self._coefficients(told_of["covariance"])

    def _coefficients(self, covariance: Any) -> tuple[pandas.DataFrame, list[str]]:
        table = self._model.summary.toDataFrame().toArrow().to_pandas()
        table.columns = ["Coefficient", "Estimate", "Std. Error", "t value", "Pr(>|t|)"]
        table = table.set_index("Coefficient").astype(float)
        gone = table["Estimate"].isna()
        self._covariance = _covariances(covariance, list(table.index))
        return table[~gone], list(table.index[gone])

    def coef(self) -> pandas.Series:
        """Estimates, shape (k,), indexed by name."""
        return self._table["Estimate"].copy()

    def se(self) -> pandas.Series:
        """Standard errors, shape (k,), indexed by name."""
        return self._table["Std. Error"].copy()

    def tstat(self) -> pandas.Series:
        """Estimates divided by standard errors, shape (k,), indexed by name."""
        return self._table["t value"].copy()

    def pvalue(self) -> pandas.Series:
        """Two-sided p values of t with ``df_t`` degrees of freedom, shape (k,), indexed by name."""
        return self._table["Pr(>|t|)"].copy()

    def confint(self, alpha: float = 0.05) -> pandas.DataFrame:
        """Bounds of the confidence intervals at level 1 - alpha, shape (k, 2).

        Parameters
        ----------
        alpha : float
            Within (0, 1).
        """
        import pandas

        if not 0 < alpha < 1:
            raise ValueError(f"alpha {alpha} is not within (0, 1)")
        half = self._critical(1 - float(alpha)) * self._table["Std. Error"]
        ends = (alpha / 2, 1 - alpha / 2)
        names = [f"{100 * end:.10g}%" for end in ends]
        estimate = self._table["Estimate"]
        return pandas.DataFrame({names[0]: estimate - half, names[1]: estimate + half})

    def _critical(self, level: float) -> float:
        model = self._model
        found = in_thread(self._spark, "Feols.confint", lambda: model._asked("inference", level=level))
        return float(found["criticalValue"][0])

    def vcov(self) -> pandas.DataFrame:
        """The covariance of the coefficients, shape (k, k).

        Raises
        ------
        ValueError
            For more than 64 coefficients: only standard errors are computed then, no covariances.
        """
        if self._covariance is None:
            raise ValueError(
                f"{len(self._table):,} coefficients, and covariances come with 64 at most: absorb the effects "
                "that are not asked for, y ~ x | effects"
            )
        return self._covariance.loc[self._table.index, self._table.index]

    def contrasts(self, *of: str | Mapping[str, float]) -> pandas.DataFrame:
        """Linear combinations of coefficients with their errors and t tests, under the errors of the fit.

        Parameters
        ----------
        *of : str or dict
            One for each row of the result: ``{"age": 1, "tenure": -1}`` is age less tenure, a name the coefficient itself.

        Returns
        -------
        pandas.DataFrame
            Estimate, Std. Error, t value, Pr(>|t|).

        Raises
        ------
        ValueError
            An unknown name; more than 64 coefficients, as for :meth:`vcov`.
        """
        made = contrast_matrix(of, list(self._table.index))
        found = contrast(made, self._table["Estimate"].to_numpy(), self.vcov().to_numpy(), self.df_t)
        found.index = [_written(one) for one in of]
        return found

    def wald(self, *of: str | Mapping[str, float], values: Sequence[float] | None = None) -> pandas.Series:
        """Wald's test that linear combinations of coefficients have given values, all at once, under the errors of the
        fit.

        Parameters
        ----------
        *of : str or dict
            As for :meth:`contrasts`: ``fit.wald("age", "tenure")`` tests that both are 0.
        values : sequence of float, optional
            One for each. Default: 0.

        Returns
        -------
        pandas.Series
            F, df1 (the number of combinations), df2 (that of t), p_value.

        Raises
        ------
        ValueError
            As for :meth:`contrasts`; a combination that depends on the others, values of another number.
        """
        import numpy

        made = contrast_matrix(of, list(self._table.index))
        asked = numpy.zeros(len(of)) if values is None else numpy.asarray(values, dtype=float)
        if asked.shape != (len(of),):
            raise ValueError(f"values of shape {asked.shape} for {len(of)} hypotheses")
        return wald(made, self._table["Estimate"].to_numpy(), asked, self.vcov().to_numpy(), self.df_t)

    def tidy(self, alpha: float = 0.05) -> pandas.DataFrame:
        """Table of Estimate, Std. Error, t value, Pr(>|t|) and the bounds of the confidence interval.

        Parameters
        ----------
        alpha : float
            The intervals' level is 1 - alpha.
        """
        return self._table.join(self.confint(alpha))

    def to_pandas(self) -> pandas.DataFrame:
        """Same as :meth:`tidy`, under the name that Sparqr's other results use."""
        return self.tidy()

    def resid(self) -> numpy.ndarray | DataFrame:
        """Response minus prediction for the rows of the fit.

        Returns
        -------
        numpy.ndarray or pyspark.sql.DataFrame
            Shape (nobs,), in the order of the rows, for a local table; a DataFrame with one column,
            ``residuals``, for Spark data.
        """
        return self._of_rows("residuals", lambda: self._model.summary.residuals)

    def fitted(self) -> numpy.ndarray | DataFrame:
        """Predictions for the rows of the fit, in the form of :meth:`resid`."""
        return self.predict()

    def predict(
        self, newdata: Any = None, name: str = "prediction", *, interval: str | None = None, alpha: float = 0.05
    ) -> numpy.ndarray | pandas.DataFrame | DataFrame:
        """Predictions, absorbed effects and offset included.

        Parameters
        ----------
        newdata : optional
            A table of any kind that :func:`feols` takes. Default: the rows of the fit.
        name : str
            Name of the new column of a Spark DataFrame.
        interval : {None, "prediction", "confidence"}
            Give the standard error of each prediction, too, under the errors of the fit, and the interval of an
            observation (of weight 1, with the variance ``sigma ** 2``), or of the mean. Not with absorbed effects, and
            for at most 64 coefficients, as :meth:`vcov`.
        alpha : float
            Within (0, 1): the interval's level is 1 - alpha.

        Returns
        -------
        numpy.ndarray, pandas.DataFrame or pyspark.sql.DataFrame
            Shape (rows,) for a local table, NaN where a value is missing or a level was not in the fit; with an interval
            a table of fit, se_fit, ci_low, ci_high. For Spark data newdata with one more column; with an interval three
            others besides, the name followed by ``_se``, ``_low``, ``_high``.

        Raises
        ------
        ValueError
            A column of that name is there; an interval that cannot be given.
        """
        from pyspark.sql import functions

        level = None if interval is None else checked(interval, alpha)
        if level is not None and self.effects:
            raise ValueError("intervals are not there with absorbed effects: write them as factors, y ~ x + C(worker)")
        if level is not None and self._covariance is None:
            raise ValueError("intervals take the covariances of all coefficients, which come with 64 at most")
        # otherwise another one would be started for the table
        require_running(self._spark)
        source = None if newdata is None else Source.of(newdata)
        if source is None and self._rows.kept is None:
            return self._predicted(self._rows.frame, name, interval, level)
        if source is not None and not source.local:
            return self._predicted(source.data, name, interval, level)
        frame, made = self._rows.frame, None
        if source is not None:
            columns = list(dict.fromkeys(v.column for v in self._variables if not v.response))
            # without columns the intercept alone
            made = to_spark(self._spark, crossing(source.data, columns).table) if columns else None
            frame = self._spark.range(0, len(source.data), 1, 1) if made is None else made.frame
        try:
            if level is None:
                return self._collected("predict", lambda: self._predicted(frame, name).select(name))

            def work() -> Any:
                found = self._predicted(frame, name, interval, level)
                parts = [functions.col(f"`{name}{end}`").alias(to) for end, to in _PARTS.items()]
                return found.select(*parts).toArrow().to_pandas()

            return in_thread(self._spark, "Feols.predict", work)
        finally:
            if made is not None:
                made.close()

    def _predicted(
        self, frame: DataFrame, name: str, interval: str | None = None, level: float | None = None
    ) -> DataFrame:
        from pyspark.sql import functions

        for end in _PARTS if level is not None else ("",):
            if name + end in frame.columns:
                raise ValueError(f"there is a column {name}{end} already: predict(newdata, name=...)")
        if level is None:
            made: DataFrame = told(lambda: self._model._told_by("all", frame))
            return made.withColumnRenamed(PREDICTION, name)
        made = told(lambda: self._model._told_by("allWithErrors", frame))
        fit, error = functions.col(PREDICTION), functions.col(PREDICTION + "StandardError")
        noise = self.sigma**2 if interval == "prediction" else 0.0
        half = functions.lit(self._critical(level)) * functions.sqrt(error * error + functions.lit(noise))
        made = made.withColumn(f"{name}_low", fit - half).withColumn(f"{name}_high", fit + half)
        return made.withColumnsRenamed({PREDICTION: name, PREDICTION + "StandardError": f"{name}_se"})

    def _of_rows(self, what: str, frame: Callable[[], DataFrame]) -> numpy.ndarray | DataFrame:
        return frame() if self._rows.kept is None else self._collected(what, frame)

    def _collected(self, what: str, frame: Callable[[], DataFrame]) -> numpy.ndarray:
        found: numpy.ndarray = in_thread(self._spark, f"Feols.{what}", lambda: column_of(frame()))
        return found

    def fixef(self) -> dict[str, pandas.Series]:
        """The absorbed effects by factor and level.

        As in pyfixest, the first factor has all its levels; the first level of every other factor is 0.
        Effects dropped because of further dependences are NaN.

        Returns
        -------
        dict of str to pandas.Series
            Keyed by the factors' names, in the formula's order.
        """
        if not self._levels:
            return {}
        summary = self._model.summary
        table = in_thread(
            self._spark, "Feols.fixef", lambda: summary.absorbedEffects().toArrow().to_pandas()
        )
        effects = {}
        at = 0
        terms = sorted({t for v in self._variables for t in v.absorbed})
        for term, levels in zip(terms, self._levels):
            parts = [v.column for v in self._variables if term in v.absorbed]
            name = ":".join(parts)
            some = table.iloc[at : at + levels]
            at += levels
            values = some.set_index("term")["estimate"].astype(float)
            values.name = "Estimate"
            values.index.name = name
            if len(parts) == 1:
                written = next(v.name for v in self._variables if term in v.absorbed)
                values.index = values.index.str.slice(len(written))
                values.index.name = name
            effects[name] = values
        return effects

    @property
    def report(self) -> dict[str, Any]:
        """Sizes, ordering, flops, backend, seconds and the rest, by the names of the JSON report."""
        summary = self._model.summary
        return in_thread(self._spark, "Feols.report", lambda: summary.report)

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """The report as one page with pictures, as :meth:`LeastSquaresResult.to_html`.

        Parameters
        ----------
        path : str or path, optional
            Where to write it.

        Raises
        ------
        ValueError
            The fit was made without ``profile=True``.
        """
        return self._model.summary.to_html(path)

    def _title(self) -> list[str]:
        response, _, right = self.formula.partition("~")
        effects = right.partition("|")[2].strip()
        lines = [f"Dep. var.: {response.strip()}" + (f", Fixed effects: {effects}" if effects else "")]
        by = f" ({' + '.join(self._clusters)})" if self._clusters else ""
        detail = f": {self.vcov_detail}" if self._clusters else ""
        lines.append(f"Inference: {self.vcov_type}{by}{detail}")
        lines.append(f"Observations: {self.nobs:,}" + (f" ({self.left_out})" if self.left_out else ""))
        if self.effects:
            levels = ", ".join(f"{name} ({count:,} levels)" for name, count in self.effects.items())
            lines.append(f"Absorbed effects: {levels}")
        return lines

    def _footer(self) -> str:
        text = f"RMSE: {self.rmse:.4g}  R2: {self.r2:.4g}"
        if self.r2_within == self.r2_within:
            text += f"  R2 within: {self.r2_within:.4g}"
        if self.f_statistic == self.f_statistic:
            kind = "F" if self.vcov_type == "iid" else "F (Wald, by these errors)"
            text += f"  {kind}: {self.f_statistic:.4g} on {self.f_df[0]} and {self.f_df[1]:.10g} DF, "
            text += f"p-value {self.f_pvalue:.4g}"
        return text

    def __str__(self) -> str:
        lines = ["Estimation: OLS, by sparse QR", *self._title(), ""]
        lines.append(self.tidy().to_string(max_rows=60, float_format=lambda v: f"{v:.6g}"))
        lines += ["---", self._footer()]
        if self.dropped:
            lines.append(_dropped(self.dropped))
        lines += [f"Warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def summary(self) -> None:
        """Prints the table, with the assumptions above it and the goodness of fit below."""
        print(self)

    def __reduce__(self) -> Any:
        """A fit refers to its model in Spark's JVM."""
        raise TypeError(
            "a fit cannot be pickled: it refers to its model in Spark's JVM. Save its tables: fit.tidy(), fit.vcov(), "
            "fit.fixef() and str(fit)"
        )

    def __repr__(self) -> str:
        return f"Feols({self.formula!r}, nobs={self.nobs}, coefficients={len(self._table)}, vcov={self.vcov_type!r})"

    def _repr_html_(self) -> str:
        table = self.tidy()
        rows = ([name, *map(float, values)] for name, *values in table.head(100).itertuples())
        notes = [*self._title()[1:], self._footer()]
        if self.dropped:
            notes.append(_dropped(self.dropped))
        notes += [f"Warning: {warning}" for warning in self.warnings]
        return html_table(self.formula, ["Coefficient", *table.columns], rows, notes, len(table))


def _covariances(values: Any, names: list[str]) -> pandas.DataFrame | None:
    """Covariances of all coefficients; None if there are too many."""
    import pandas

    if len(values) != len(names) ** 2:
        return None
    # the JVM puts the intercept last
    order = [*names[1:], names[0]] if names[:1] == [_INTERCEPT] else names
    return pandas.DataFrame(values.reshape(len(names), len(names)), index=order, columns=order)


def _written(one: str | Mapping[str, float]) -> str:
    """A combination as R writes it: age - 2 tenure."""
    if isinstance(one, str):
        return one
    parts = [f"{'-' if v < 0 else '+'} {'' if abs(v) == 1 else f'{abs(v):g} '}{name}" for name, v in one.items() if v]
    return " ".join(parts).removeprefix("+ ")


def _dropped(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10:,} more" if len(names) > 10 else ""
    return f"Not defined, because their columns depend on others: {', '.join(names[:10])}{more}"
