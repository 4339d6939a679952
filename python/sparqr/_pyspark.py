# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Which PySpark is here: the whole, only the client of Spark Connect, one of another version, or none."""

from __future__ import annotations

import functools
import re
import warnings
from typing import Any

# Spark's minor versions on which this package is tested: docs/guide/versions.md.
TRIED = ("4.0", "4.1", "4.2", "4.3")

MISSING = (
    'PySpark is missing: pip install "sparqr[classic]" brings it (Spark on this machine, or the driver of a cluster), '
    'pip install "sparqr[connect]" only the client of Spark Connect, for a server elsewhere'
)

CLIENT_ONLY = (
    "this Python has only the client of Spark Connect (pyspark-client), which starts no Spark: connect by "
    'SparkSession.builder.remote("sc://host:15002").getOrCreate(), or, in another environment, '
    'pip install "sparqr[classic]"'
)


def require_pyspark() -> None:
    """ImportError that says what to install if PySpark is missing or too old; a warning if it is newer than all that
    were tried. Does its work once."""
    _require(_version())


def _version() -> str | None:
    try:
        from pyspark import __version__
    except ImportError:
        return None
    return __version__


@functools.cache
def _require(version: str | None) -> None:
    if version is None:
        raise ImportError(MISSING)
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None:
        return
    found = tuple(map(int, numbers.groups()))
    oldest, newest = (tuple(map(int, minor.split("."))) for minor in (TRIED[0], TRIED[-1]))
    if found < oldest:
        raise ImportError(f"PySpark {version} is too old: Sparqr needs {TRIED[0]} or later, pip install -U pyspark")
    if found > newest:
        warnings.warn(
            f"PySpark {version} is newer than those Sparqr was tested on ({TRIED[0]} to {TRIED[-1]}): it goes on, but "
            "may fail where Spark has changed",
            stacklevel=4,
        )


def spark_context() -> Any:
    """PySpark's class SparkContext, the way to Spark's JVM; None in a client of Spark Connect (``pyspark-client``),
    which has neither the class nor a JVM."""
    try:
        from pyspark import SparkContext
    except ImportError:
        return None
    return SparkContext


def is_client_only() -> bool:
    """Whether PySpark here is only the client of Spark Connect."""
    return _version() is not None and spark_context() is None
