# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""What Sparqr's stages of Spark ML have in common: the jar, errors told, saving."""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext
from pyspark.ml.util import JavaMLReadable, JavaMLWritable
from pyspark.ml.wrapper import JavaWrapper
from pyspark.sql import SparkSession

from sparqr import _connect
from sparqr._errors import telling_errors
from sparqr._jvm import java_class

# Of the same full name as the Python class: by it PySpark finds either of the two from the other.
JAVA_ESTIMATOR = "sparqr.ml.SparseQRRegression"


def require_jar() -> None:
    """RuntimeError if Spark was not started, or not with Sparqr's jar; over Spark Connect that is told by
    the first call of the server."""
    if _connect.is_connect():
        return
    context = SparkContext._active_spark_context
    if context is None:
        raise RuntimeError("no Spark session: start one first, with Sparqr's jar")
    with telling_errors():
        java_class(context._jvm, JAVA_ESTIMATOR)


def session() -> Any:
    """The session of this thread, classic or of Spark Connect."""
    return _connect.active_session() if _connect.is_connect() else SparkSession.builder.getOrCreate()


class Told(JavaWrapper):
    """Errors of the JVM as SparqrError where they are Sparqr's, or the JVM's end."""

    _java_obj: Any

    def _call_java(self, name: str, *args: Any) -> Any:
        with telling_errors():
            return super()._call_java(name, *args)


class Saved(JavaMLReadable, JavaMLWritable):
    """Saved and loaded as PySpark's own are, errors told."""

    @classmethod
    def read(cls) -> Any:
        """The reader of this class."""
        require_jar()
        return super().read()

    @classmethod
    def load(cls, path: str) -> Any:
        """What was saved to a path."""
        with telling_errors():
            return super().load(path)

    def write(self) -> Any:
        """The writer."""
        with telling_errors():
            return super().write()

    def save(self, path: str) -> None:
        """Saves to a path that does not exist yet; ``write().overwrite().save(path)`` replaces."""
        with telling_errors():
            super().save(path)
