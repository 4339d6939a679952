# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A solve's report as one page with pictures."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from sparqr._jvm import java_class


def page_of(jvm: Any, report: Any) -> str:
    """The page of a JVM report; empty without a profile."""
    return str(java_class(jvm, "io.sparqr.spark.python.PythonSupport").page(report))


def read(text: str) -> dict[str, Any]:
    """A JSON report, with the options of its run by the keywords of Python: ``rank_tolerance``."""
    report = json.loads(text)
    run = report.get("run", {})
    if "options" in run:
        run["options"] = {re.sub(r"[A-Z]", r"_\g<0>", name).lower(): value for name, value in run["options"].items()}
    return report


def to_html(page: str, path: str | os.PathLike[str] | None) -> str:
    """Returns the page, and writes it to a file if a path is given.

    Raises
    ------
    ValueError
        The solve did not record a profile.
    """
    if not page:
        raise ValueError("there is no page: profile=True keeps what it shows")
    if path is not None:
        Path(path).write_text(page, encoding="utf-8")
    return page
