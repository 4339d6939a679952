# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Linear regression by a formula, with absorbed effects and robust or clustered errors."""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

from sparqr import _progress
from sparqr._calls import in_thread
from sparqr._declared import FORMER, REGRESSION
from sparqr._feols_result import PREDICTION, Feols, Fitted, told
from sparqr._feols_rows import Source
from sparqr._sample import Variable, variables
from sparqr._tables import require_arrow

# the estimator's words, but for clusters, which pyfixest names in a dict, and pyfixest's own
_STRINGS = {word: word for word in REGRESSION["vcov"].values if word != "cluster"} | {"hetero": "HC1"}
_CORRECTIONS = REGRESSION["clusterCorrection"].values
_SINGLETONS = ("singleton", "none")

# fixest's defaults, which are the same as cluster_correction="fixest".
_SSC = {"k_adj": True, "k_fixef": "nonnested", "G_adj": True, "G_df": "min"}

# Options of pyfixest that we refuse, with our replacements.
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
    reference_levels: Mapping[str, Any] | None = None,
    keep_terms: Sequence[str] = (),
    drop_terms: Sequence[str] = (),
    ordering: str = "auto",
    backend: str = "auto",
    method: str = "auto",
    rank_tolerance: float | None = None,
    profile: bool = False,
    progress: bool | None = None,
    **others: Any,
) -> Feols:
    """Linear regression like ``feols`` of fixest and pyfixest, but exact, by sparse QR on Spark.

    >>> fit = sparqr.feols("log_wage ~ age + tenure | worker + firm", df, vcov={"CRV1": "worker"})
    >>> fit.tidy()

    Over Spark Connect, too, with Sparqr's jar on the server or added by ``spark.addArtifacts``.
    Absorbed effects are eliminated exactly: coefficients and errors are the same as with dummies, up to
    rounding. Rows with a missing value in a used column are left out; an infinite value is an error.
    Coefficients have R's names, ``(Intercept)``, ``firmbolt``, ``age:firmbolt``.

    Parameters
    ----------
    formula : str
        ``response ~ terms | absorbed``: ``+ - : * ^ ( ) . 0 1``, ``offset(x)``, ``factor(x)`` or
        ``C(x)``, ``log``, ``sqrt``, ``exp`` and the like of one column, and after the bar ``a^b`` for the
        combinations of two. Strings and booleans are factors.
    data : pyspark.sql.DataFrame, pyspark.pandas.DataFrame, pandas.DataFrame, polars.DataFrame, pyarrow.Table or path
        The data; also a relation of DuckDB, a table of Ibis, or anything else with ``__arrow_c_stream__``. Local
        tables are passed to Spark as Arrow, only the columns used; categorical columns are factors with their first
        category as the reference. A path is that of a Parquet or CSV file (or a folder of them), which the executors
        read as ``sparqr regress`` does.
    vcov : str or dict, optional
        ``"iid"`` (default), ``"hetero"`` or ``"HC1"``, ``"HC0"``, ``"HC2"``, ``"HC3"``,
        ``{"CRV1": "worker"}`` or two ways, ``{"CRV1": "worker + firm"}``. HC2 and HC3 are MacKinnon and
        White's, as in sandwich and statsmodels; pyfixest multiplies their variances by n / (n - k).
    weights : str, optional
        Column of weights, inverse to the errors' variances.
    cluster_correction : {"fixest", "sandwich", "none"}
        Small-sample correction of clustered errors. "fixest" is the correction of fixest and pyfixest: G / (G
        - 1) for the dimension with the fewest clusters, times (n - 1) / (n - k), where k does not count
        effects nested in clusters, and t with G - 1 degrees of freedom. "sandwich" is the correction of R's
        vcovCL. We count the effects by the exact rank of their dummies, fixest by the levels of each factor
        less one: the two differ if the graph of the effects is not connected.
    ssc : dict, optional
        For compatibility with pyfixest: only its default, or None.
    fixef_rm : {"singleton", "none"}
        Whether to leave out rows that are the only one of a level of an absorbed effect, as pyfixest does.
        They do not affect the coefficients or iid errors, but they do affect n and the number of clusters.
        For Spark DataFrames the levels must be counted first.
    categorical : sequence of str
        Numeric columns to be used as factors.
    reference_levels : dict, optional
        Reference levels by column. Default: the first in ascending order.
    keep_terms, drop_terms : sequence of str
        Names of coefficients to keep, or to drop first, if columns depend on each other. Among the others,
        later ones are dropped first.
    ordering : {"auto", "colamd", "amd", "nd", "natural", "best"}
        Column order of the factorization.
    backend : {"auto", "cpu", "cuda"}
        "cuda" fails without a device.
    method : {"auto", "householder"}
        How fronts are factored: "auto" takes the Gram matrix of one with many sparse rows, as panels with two
        effects have it, if what is measured against the rows is as good. Not on GPUs.
    rank_tolerance : float, optional
        A column whose remaining norm is at most this counts as dependent.
    profile : bool
        Record the times and places of all work, for :meth:`Feols.to_html`.
    progress : bool, optional
        Show progress, as :func:`sparqr.solve` does.
    **others
        The earlier keywords references, keep and drop, which are accepted until 1.0. pyfixest's other options
        are refused, each with advice on our replacement.

    Returns
    -------
    Feols

    Raises
    ------
    ValueError
        Invalid formula, unknown column, level or option.
    TypeError
        data is neither a table nor a path.
    SparqrError
        As for :func:`sparqr.solve`: an infinite value, data that changed, no CUDA device, ...
    """
    require_arrow("feols")
    reference_levels = _given(others, "reference_levels", reference_levels)
    keep_terms = _given(others, "keep_terms", keep_terms)
    drop_terms = _given(others, "drop_terms", drop_terms)
    _refuse(formula, ssc, others)
    if cluster_correction not in _CORRECTIONS:
        raise ValueError(f"cluster_correction {cluster_correction!r} is none of {', '.join(_CORRECTIONS)}")
    if fixef_rm not in _SINGLETONS:
        raise ValueError(f"fixef_rm {fixef_rm!r} is none of {', '.join(_SINGLETONS)}")
    kind, clusters = parsed_vcov(vcov)
    shows = _progress.wanted(progress)
    source = Source.of(data)
    extra = [*([] if weights is None else [weights]), *clusters]

    def work() -> Feols:
        found = told(lambda: variables(source.spark, formula, source.dot(extra)))
        rows = source.rows(found, extra, fixef_rm == "singleton")
        try:
            options: dict[str, Any] = {
                "formula": formula,
                "handleInvalid": "skip",
                "predictionCol": PREDICTION,
                "categoricalCols": list(dict.fromkeys([*categorical, *rows.factors])),
                "referenceLevels": _references(rows.references, reference_levels or {}, found),
                "weightCol": weights,
                "vcov": "cluster" if clusters else kind,
                "clusterCols": clusters or None,
                "clusterCorrection": cluster_correction,
                "keepTerms": list(keep_terms) or None,
                "dropTerms": list(drop_terms) or None,
                "ordering": ordering,
                "backend": backend,
                "method": method,
                "rankTolerance": rank_tolerance,
                "profile": profile,
                "progress": shows,
            }
            from sparqr.ml import SparseQRRegression

            estimator = SparseQRRegression(**{k: v for k, v in options.items() if v not in (None, [])})
            model = told(lambda: estimator.fit(rows.frame))
        finally:
            rows.release()
        return Feols(formula, Fitted(model, rows, found, kind, clusters))

    made: Feols = in_thread(source.spark, "sparqr.feols", work)
    return made


def parsed_vcov(vcov: str | Mapping[str, str] | None) -> tuple[str, list[str]]:
    """The assumption on the errors, and the columns of clusters.

    Parameters
    ----------
    vcov : str, dict or None
        In pyfixest's form.

    Raises
    ------
    ValueError
        An unsupported vcov, with the supported ones.
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


def _given(others: dict[str, Any], keyword: str, value: Any) -> Any:
    """The value of a keyword, which may be given under an earlier name."""
    for former in FORMER[keyword]:
        if former in others:
            if value:
                raise TypeError(f"feols() got both {keyword} and {former}, its earlier name")
            value = others.pop(former)
    return value


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
        raise ValueError(f"formula {formula!r}: i() is not there: C(x), x:y and reference_levels={{column: level}} are")


def _references(
    of_categories: Mapping[str, str], asked: Mapping[str, Any], found: Sequence[Variable]
) -> list[str]:
    factors = {v.column for v in found if not v.absorbed and not v.response}
    known = {c: level for c, level in of_categories.items() if c in factors}
    known.update({c: str(level) for c, level in asked.items()})
    return [f"{column}={level}" for column, level in known.items()]
