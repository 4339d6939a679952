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


def require_pandas(what: str) -> Any:
    """The pandas module; ImportError with installation advice if it is missing."""
    try:
        import pandas
    except ImportError as e:
        raise ImportError(f"{what} needs pandas: pip install pandas") from e
    return pandas


def solution_frame(x: Any) -> pandas.DataFrame:
    """A solution as a DataFrame: a row for each column of A, a column for each right-hand side.

    Parameters
    ----------
    x : numpy.ndarray or list
        Shape (n,) or (n, k).
    """
    pandas = require_pandas("to_pandas()")
    frame = pandas.DataFrame(x)
    frame.columns = ["x"] if frame.shape[1] == 1 else [f"x{k}" for k in range(frame.shape[1])]
    frame.index.name = "column"
    return frame


def solution_html(result: Any) -> str:
    """The HTML that a notebook shows for a :class:`sparqr.LeastSquaresResult`."""
    report, x = result.report, result.x
    several = len(x) > 0 and hasattr(x[0], "__len__")
    width = len(x[0]) if several else 1
    rows = ([j, *map(float, x[j] if several else [x[j]])] for j in range(min(len(x), SHOWN)))
    header = ["column", *([f"x{k}" for k in range(width)] if several else ["x"])]
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
