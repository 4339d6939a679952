# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""What a master says: whether Spark's tasks run on this machine, in its JVM, and on how many cores."""

from __future__ import annotations

import os
import re


def local_cores(master: str | None) -> int | None:
    """The cores of a local master; None for a cluster."""
    found = re.fullmatch(r"local(?:\[\s*(\d+|\*)\s*(?:,.*)?\])?", master or "")
    if found is None:
        return None
    if found[1] == "*":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(found[1] or 1))


def is_local(master: str | None) -> bool:
    """Whether all tasks run in the driver's JVM, so that they read its files."""
    return local_cores(master) is not None
