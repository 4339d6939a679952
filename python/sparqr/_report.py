# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A solve's report as one page with pictures."""

from __future__ import annotations

import os
from pathlib import Path


def to_html(page: str, path: str | os.PathLike[str] | None) -> str:
    """The page; written to a file, too, if there is a path.

    Raises
    ------
    ValueError
        The solve was not asked for a page.
    """
    if not page:
        raise ValueError("there is no page: solve(..., profile=True) keeps what it shows")
    if path is not None:
        Path(path).write_text(page, encoding="utf-8")
    return page
