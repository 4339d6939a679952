# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The JVM side: finding Sparqr's classes, fetching arrays, telling errors."""

import array
import sys
from contextlib import contextmanager

try:
    import numpy
except ImportError:
    numpy = None

_ERRORS = "io.sparqr.error."


class SparqrError(RuntimeError):
    """Something that Sparqr refuses or cannot do: NaN in the input, a bad index, no CUDA device.

    Attributes
    ----------
    kind : str
        Name of the Java error, such as ``"NonFiniteValueException"``.
    """

    def __init__(self, message, kind):
        super().__init__(message)
        self.kind = kind


def java_class(jvm, name):
    """A class of the JVM by its full name; RuntimeError if Sparqr's jar is not there."""
    found = jvm
    for part in name.split("."):
        found = getattr(found, part)
    # Py4J takes what it does not find for a package.
    if type(found).__name__ == "JavaPackage":
        raise RuntimeError(
            f"Spark's JVM has no {name}: start Spark with Sparqr's jar, "
            'SparkSession.builder.config("spark.jars", "sparqr-spark-0.1.0-SNAPSHOT-all.jar")'
        )
    return found


@contextmanager
def telling_errors():
    """Turns Sparqr's Java errors into SparqrError, with the message alone; others pass."""
    try:
        yield
    except Exception as e:
        cause = getattr(e, "java_exception", None)
        for _ in range(32):
            if cause is None:
                break
            name = cause.getClass().getName()
            if name.startswith(_ERRORS):
                raise SparqrError(cause.getMessage(), name[len(_ERRORS) :]) from None
            cause = cause.getCause()
        raise


def doubles(jvm, java_array):
    """A Java double[] as a numpy array, or as a list where there is no numpy."""
    support = java_class(jvm, "io.sparqr.spark.python.PythonSupport")
    parts = [bytes(support.bytes(java_array, k)) for k in range(support.parts(java_array))]
    return decode(b"".join(parts))


def decode(data):
    """Little-endian IEEE 754 doubles as a numpy array, or as a list where there is no numpy."""
    if numpy is not None:
        return numpy.frombuffer(data, dtype="<f8").astype(float)
    values = array.array("d")
    values.frombytes(data)
    if sys.byteorder != "little":
        values.byteswap()
    return values.tolist()


def side_by_side(columns):
    """k vectors of length n as an n x k array, or as a list of n rows where there is no numpy."""
    if numpy is not None:
        return numpy.column_stack(columns)
    return [list(row) for row in zip(*columns)]
