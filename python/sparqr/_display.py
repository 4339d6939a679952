# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Results as tables for notebooks and for pandas."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any, Iterable, Sequence

if TYPE_CHECKING:
    import pandas

# Rows shown in a notebook's table.
SHOWN = 30

# Inherits the page's colours, so that it fits light and dark pages.
_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;color:inherit;background:transparent"
_LINE = "border-bottom:1px solid rgba(128,128,128,.45)"
_NUMBER = "text-align:right;padding:.15em .7em;color:inherit;background:transparent;border:0"
_TEXT = "text-align:left;padding:.15em .7em;color:inherit;background:transparent;border:0;font-weight:normal"


def html_table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[Any]], notes: Sequence[str] = (), total: int = 0
) -> str:
    """A table of names and numbers, everything escaped.

    Parameters
    ----------
    caption : str
        Shown above the table.
    header : sequence of str
        Names of the columns.
    rows : iterable of sequence
        The first entry of each is its name.
    notes : sequence of str
        Shown below the table, a line each.
    total : int
        Number of all rows; if only some are shown, the table says so.
    """
    shown = [list(row) for _, row in zip(range(SHOWN), rows)]
    if total > len(shown):
        notes = [f"… and {total - len(shown):,} more", *notes]
    head = "".join(
        f'<th scope="col" style="{_NUMBER if k else _TEXT};{_LINE}">{escape(name)}</th>'
        for k, name in enumerate(header)
    )
    body = "".join(
        f'<tr style="background:transparent"><th scope="row" style="{_TEXT}">{escape(str(row[0]))}</th>'
        + "".join(f'<td style="{_NUMBER}">{escape(number(value))}</td>' for value in row[1:])
        + "</tr>"
        for row in shown
    )
    below = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return (
        f'<div class="sparqr" style="color:inherit"><table style="{_TABLE}">'
        f'<caption style="text-align:left;color:inherit;padding:.3em .7em">{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f'<div style="padding:.3em .7em;opacity:.75">{below}</div></div>'
    )


def number(value: Any) -> str:
    """A number with at most seven digits; strings unchanged."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    if size == 0 or 1e-4 <= size < 1e7:
        return f"{value:.7g}"
    return f"{value:.3e}"


def sized(count: float) -> str:
    """Bytes in words: ``1.5 GB``."""
    return with_unit(count, ("bytes", "kB", "MB", "GB", "TB", "PB"))


def with_unit(count: float, units: Sequence[str]) -> str:
    """A count with three digits and one of the units, each a thousand times the one before.

    Parameters
    ----------
    count : float
        At least 0.
    units : sequence of str
        From the smallest.
    """
    k = 0
    while k < len(units) - 1 and float(f"{count:.3g}") >= 1000:
        count /= 1000
        k += 1
    return f"{int(count):,} {units[k]}" if k == 0 else f"{_three(count)} {units[k]}"


def _three(count: float) -> str:
    """At least three digits, none after a whole number of hundreds, no exponent."""
    return f"{count:.0f}" if count >= 99.95 else f"{count:.1f}" if count >= 9.995 else f"{count:.2f}"


def lasting(seconds: float) -> str:
    """Seconds in words: ``0.25 s``, ``90 s``, ``2 h 5 min``."""
    if not seconds < 600:
        minutes = round(seconds / 60) if math.isfinite(seconds) else -1
        if minutes < 0:
            return "–"
        return f"{minutes} min" if minutes < 60 else f"{minutes // 60:,} h {minutes % 60} min"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def require_pandas(what: str) -> Any:
    """The pandas module; ImportError with installation advice if it is missing."""
    try:
        import pandas
    except ImportError as e:
        raise ImportError(f'{what} needs pandas: pip install "sparqr[feols]", or pip install pandas') from e
    return pandas


def _columns(result: Any) -> dict[str, list[float]]:
    """x and, beside each, its standard errors if there are any, by the names of a table's columns."""
    errors = getattr(result, "standard_errors", None)
    several = len(result.x) > 0 and hasattr(result.x[0], "__len__")
    made = {}
    for k in range(len(result.x[0]) if several else 1):
        for name, values in (("x", result.x), ("std_error", errors)):
            if values is not None:
                column = [float(row[k]) for row in values] if several else [float(value) for value in values]
                made[f"{name}{k}" if several and len(result.x[0]) > 1 else name] = column
    return made


def solution_frame(result: Any) -> pandas.DataFrame:
    """A solution as a DataFrame: a row for each column of A, named if A was a table; for each right-hand side a column
    and, if there are, one of standard errors.

    Parameters
    ----------
    result : sparqr.LeastSquaresResult
        With x of shape (n,) or (n, k).
    """
    pandas = require_pandas("to_pandas()")
    names = getattr(result, "names", None)
    frame = pandas.DataFrame(_columns(result), index=names or range(len(result.x)))
    frame.index.name = "column"
    return frame


def solution_html(result: Any) -> str:
    """The HTML that a notebook shows for a :class:`sparqr.LeastSquaresResult`."""
    report, x = result.report, result.x
    several = len(x) > 0 and hasattr(x[0], "__len__")
    columns = _columns(result)
    names = getattr(result, "names", None) or range(len(x))
    rows = zip(names, *columns.values())
    header = ["column", *columns]
    norms = result.residual_norm if several else [result.residual_norm]
    notes = [
        f"rank {result.rank:,}, ‖b − Ax‖ {', '.join(number(float(r)) for r in norms)}",
        f"{report.get('backend', '')}",
    ]
    if result.dead_columns:
        some = ", ".join(f"{j:,}" for j in result.dead_columns[:10])
        more = " …" if len(result.dead_columns) > 10 else ""
        notes.insert(1, f"{len(result.dead_columns):,} columns depend on others: {some}{more}")
    caption = f"Least squares: {report['rows']:,} × {report['columns']:,}"
    return html_table(caption, header, rows, [n for n in notes if n], len(x))
