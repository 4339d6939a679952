# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Access to the JVM: finding Sparqr's classes, fetching arrays."""

import array
import sys
from typing import Any

from sparqr._version import JAR

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]


def find_java_class(jvm: Any, name: str) -> Any:
    """A class of the JVM by its full name; None if it does not exist."""
    found = jvm
    for part in name.split("."):
        found = getattr(found, part)
    # Py4J takes any unknown name for a package.
    return None if type(found).__name__ == "JavaPackage" else found


def java_class(jvm: Any, name: str) -> Any:
    """A class of the JVM by its full name; RuntimeError if Sparqr's jar is missing."""
    found = find_java_class(jvm, name)
    if found is None:
        raise RuntimeError(
            f"Sparqr's jar is missing: Spark's JVM has no {name}. Start the session with it, "
            "sparqr.session(), or "
            f'SparkSession.builder.config("spark.jars", "path/to/{JAR}").getOrCreate(), or '
            f"pyspark --jars path/to/{JAR}. A JVM that runs takes no jar any more: restart Python "
            "first (in a notebook: the kernel)"
        )
    return found


def doubles(jvm: Any, java_array: Any) -> Any:
    """A Java double[] as a numpy array, or as a list if numpy is missing."""
    support = java_class(jvm, "io.sparqr.spark.python.PythonSupport")
    parts = [bytes(support.bytes(java_array, k)) for k in range(support.parts(java_array))]
    return decode(b"".join(parts))


def integers(jvm: Any, java_array: Any) -> Any:
    """A Java int[] as a numpy array."""
    support = java_class(jvm, "io.sparqr.spark.python.PythonSupport")
    parts = [bytes(support.bytes(java_array, k)) for k in range(support.parts(java_array))]
    return numpy.frombuffer(b"".join(parts), dtype="<i4").astype("int32")


def decode(data: bytes) -> Any:
    """Little-endian IEEE 754 doubles as a numpy array, or as a list if numpy is missing."""
    if numpy is not None:
        return numpy.frombuffer(data, dtype="<f8").astype(float)
    values = array.array("d")
    values.frombytes(data)
    if sys.byteorder != "little":
        values.byteswap()
    return values.tolist()


def side_by_side(columns: list[Any]) -> Any:
    """k vectors of length n as an n x k array, or as a list of n rows if numpy is missing."""
    if numpy is not None:
        return numpy.column_stack(columns)
    return [list(row) for row in zip(*columns)]
