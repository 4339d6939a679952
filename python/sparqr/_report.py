# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A solve's report as one page with pictures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sparqr._jvm import java_class


def page_of(jvm: Any, report: Any) -> str:
    """The page of a report of the JVM; empty where there is no profile."""
    return str(java_class(jvm, "io.sparqr.spark.python.PythonSupport").page(report))


def to_html(page: str, path: str | os.PathLike[str] | None) -> str:
    """The page; written to a file, too, if there is a path.

    Raises
    ------
    ValueError
        The solve was not asked for a page.
    """
    if not page:
        raise ValueError("there is no page: profile=True keeps what it shows")
    if path is not None:
        Path(path).write_text(page, encoding="utf-8")
    return page
