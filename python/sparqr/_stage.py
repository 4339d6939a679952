# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The common parts of Sparqr's Spark ML stages: the jar, error messages, saving."""

from __future__ import annotations

from typing import Any

from pyspark.ml.util import JavaMLReadable, JavaMLWritable
from pyspark.ml.wrapper import JavaWrapper
from pyspark.sql import SparkSession

from sparqr import _connect
from sparqr._errors import SparqrError, telling_errors
from sparqr._jvm import java_class
from sparqr._pyspark import spark_context

# The same full name as the Python class: PySpark uses it to find each of the two from the other.
JAVA_ESTIMATOR = "sparqr.ml.SparseQRRegression"


def require_jar() -> None:
    """RuntimeError if there is no session, or one without Sparqr's jar; over Spark Connect the first call to
    the server tells of the jar."""
    if _connect.is_connect():
        _connect.active_session()
        return
    context = spark_context()._active_spark_context
    if context is None:
        raise RuntimeError("no Spark session: start one first, with Sparqr's jar")
    with telling_errors():
        java_class(context._jvm, JAVA_ESTIMATOR)


def session() -> Any:
    """The session of this thread, classic or of Spark Connect."""
    return _connect.active_session() if _connect.is_connect() else SparkSession.builder.getOrCreate()


class Told(JavaWrapper):
    """Raises Sparqr's errors in the JVM, and the JVM's end, as SparqrError."""

    _java_obj: Any

    def _call_java(self, name: str, *args: Any) -> Any:
        with telling_errors():
            return super()._call_java(name, *args)


class Saved(JavaMLReadable, JavaMLWritable):
    """Saved and loaded like PySpark's own stages, with our error messages."""

    @classmethod
    def read(cls) -> Any:
        """The reader of this class."""
        require_jar()
        return super().read()

    @classmethod
    def load(cls, path: str) -> Any:
        """Loads from a path."""
        try:
            with telling_errors():
                return super().load(path)
        except SparqrError as e:
            if _connect.is_connect():
                _connect.explain_load(_connect.active_session(), path, e, f"{cls.__module__}.{cls.__name__}")
            raise

    def write(self) -> Any:
        """The writer."""
        with telling_errors():
            return super().write()

    def save(self, path: str) -> None:
        """Saves to a path that must not exist; ``write().overwrite().save(path)`` replaces."""
        with telling_errors():
            super().save(path)
