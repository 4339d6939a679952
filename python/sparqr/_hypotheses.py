# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Tests of linear hypotheses on coefficients, by their names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    import numpy
    import pandas

    Contrast = Union[str, Mapping[str, float]]

_EPS = 2.0**-52
_STEPS = 100_000


def contrast_matrix(of: Sequence[Contrast], names: Sequence[str]) -> numpy.ndarray:
    """L, a row for each contrast and a column for each coefficient.

    Parameters
    ----------
    of : sequence of str or mapping
        A name for this coefficient alone, or a dict of factors by name.
    names : sequence of str
        The coefficients.

    Raises
    ------
    ValueError
        No contrast, an unknown name, or a contrast without a nonzero factor.
    TypeError
        Neither a name nor a dict.
    """
    import numpy

    if not of:
        raise ValueError("no hypothesis: give names, or dicts of factors by name")
    made = numpy.zeros((len(of), len(names)))
    places = {name: j for j, name in enumerate(names)}
    for i, one in enumerate(of):
        if not isinstance(one, (str, Mapping)):
            raise TypeError(f"{one!r} is neither a coefficient's name nor a dict of factors by name")
        for name, factor in ({one: 1.0} if isinstance(one, str) else one).items():
            if name not in places:
                raise ValueError(f"no coefficient {name}; there are {', '.join(names)}")
            made[i, places[name]] = float(factor)
        if not made[i].any():
            raise ValueError(f"the hypothesis {one!r} has no nonzero factor")
    return made


def contrast(made: numpy.ndarray, b: Any, covariance: Any, freedom: float) -> pandas.DataFrame:
    """Estimate, standard error, t and its two-sided p of each row of L b, in pyfixest's words."""
    import numpy
    import pandas

    estimates = made @ b
    errors = numpy.sqrt(numpy.einsum("ij,jk,ik->i", made, covariance, made))
    t = estimates / errors
    p = [student(float(value), freedom) for value in t]
    columns = {"Estimate": estimates, "Std. Error": errors, "t value": t, "Pr(>|t|)": p}
    return pandas.DataFrame(columns)


def wald(made: numpy.ndarray, b: Any, values: numpy.ndarray, covariance: Any, freedom: float) -> pandas.Series:
    """Wald's test of L b = values: F = (L b - values)' (L V L')^-1 (L b - values) / q.

    Raises
    ------
    ValueError
        A hypothesis that depends on the others.
    """
    import numpy
    import pandas

    q = len(made)
    of = made @ covariance @ made.T
    scale = numpy.sqrt(numpy.diag(of))
    scaled = of / numpy.outer(scale, scale)  # correlations: free of the units
    if q > 1 and not numpy.linalg.eigvalsh(scaled)[0] > 10 * q * _EPS * numpy.linalg.norm(made @ made.T):
        raise ValueError("a hypothesis depends on the others")
    off = (made @ b - values) / scale
    f = float(off @ numpy.linalg.solve(scaled, off)) / q
    found = {"F": f, "df1": float(q), "df2": float(freedom), "p_value": fisher(f, q, freedom)}
    return pandas.Series(found)


def student(t: float, freedom: float) -> float:
    """P(\\|T\\| >= \\|t\\|) of Student's t."""
    if math.isnan(t) or not freedom > 0:
        return math.nan
    return _beta(freedom, t * t, freedom / 2, 0.5)


def student_quantile(level: float, freedom: float) -> float:
    """t with P(\\|T\\| <= t) = level: the factor from a standard error to half an interval. Bisected between neighbours."""
    if not freedom > 0:
        return math.nan
    low, high = 0.0, 1.0
    while student(high, freedom) > 1 - level and math.isfinite(high):
        low, high = high, 2 * high
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            return high
        if student(middle, freedom) > 1 - level:
            low = middle
        else:
            high = middle


def fisher(f: float, first: float, second: float) -> float:
    """P(F >= f) of Fisher's F."""
    if math.isnan(f) or not second > 0:
        return math.nan
    return _beta(second, first * f, second / 2, first / 2)


def _beta(u: float, v: float, a: float, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b) at x = u / (u + v), by Lentz's continued fraction (DLMF
    8.17.22)."""
    if v <= 0:
        return 1.0
    if not math.isfinite(v) or u <= 0:
        return 0.0
    x = u / (u + v)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(v, u, b, a)
    # neither x nor 1 - x is rounded near 1
    front = math.exp(_of_gammas(a, b) - a * math.log1p(v / u) - b * math.log1p(u / v))
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _STEPS):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + factor * d)
            c = 1 + factor / c
            step = c * d
            found *= step
        if abs(step - 1) <= 4 * _EPS:
            break
    return front * found / a


def _of_gammas(a: float, b: float) -> float:
    """log(Gamma(a + b) / (Gamma(a) Gamma(b))); by Stirling's formula where the logarithms would cancel."""
    a, b = max(a, b), min(a, b)
    if a < 20:
        return math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    more = (a - 0.5) * math.log1p(b / a) + b * math.log(a + b) - b
    return more + _stirling(a + b) - _stirling(a) - math.lgamma(b)


def _stirling(z: float) -> float:
    """lgamma(z) - ((z - 1/2) log z - z + log(2 pi) / 2) for z >= 20: DLMF 5.11.1."""
    w = 1 / (z * z)
    return (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / z
