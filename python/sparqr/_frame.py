# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Tells Spark DataFrames from other types, with advice for converting those."""

from typing import Any

from sparqr._connect import is_connect, is_connect_type
from sparqr._pyspark import CLIENT_ONLY, is_client_only

_OVER_IT = "Over Spark Connect work sparqr.solve, lstsq, factorize, load, analyze, from_scipy, feols and sparqr.ml"

_CONNECT = (
    "is of Spark Connect, a client that talks to Spark over the network, and this calls Sparqr's jar in a JVM "
    'at hand. Use a classic session: spark.api.mode "classic" (not "connect"), no SPARK_REMOTE, and '
    f"SparkSession.builder.master(...) instead of .remote(...). {_OVER_IT}"
)

# By the first part of the type's module: code that makes a Spark DataFrame of a pdf, an A and b, ...
_PANDAS = """
    from pyspark.ml.feature import VectorAssembler
    columns = [c for c in {name}.columns if c != "label"]
    df = VectorAssembler(inputCols=columns, outputCol="features").transform(spark.createDataFrame({name}))"""

_DENSE = """
    from pyspark.ml.linalg import Vectors
    df = spark.createDataFrame([(float(y), Vectors.dense(row)) for row, y in zip(A, b)], ["label", "features"])"""

_SPARSE = """
    from pyspark.ml.linalg import Vectors
    A = A.tocsr()
    A.sum_duplicates()
    ends = zip(A.indptr, A.indptr[1:])
    rows = (Vectors.sparse(A.shape[1], A.indices[i:j], A.data[i:j]) for i, j in ends)
    df = spark.createDataFrame([(float(y), row) for row, y in zip(rows, b)], ["label", "features"])
or, if it is large, write it by scipy.io.mmwrite("A.mtx", A) for bin/sparqr solve --matrix A.mtx"""

_ADVICE = {
    "pandas": _PANDAS.format(name="pdf"),
    "polars": _PANDAS.format(name="pdf").replace("(pdf)", "(pdf.to_arrow())"),
    "pyarrow": _PANDAS.format(name="table").replace("table.columns", "table.column_names"),
    "numpy": _DENSE,
    "scipy": _SPARSE,
}


def is_frame(df: Any) -> bool:
    """Whether it is a Spark DataFrame, classic or of Spark Connect."""
    return getattr(df, "_jdf", None) is not None or (is_connect_type(type(df)) and hasattr(df, "_plan"))


def require_frame(df: Any) -> Any:
    """The JVM's DataFrame behind a PySpark DataFrame, None for a Spark Connect DataFrame; TypeError with
    advice otherwise."""
    kind = type(df)
    if is_connect_type(kind) and hasattr(df, "_plan"):
        return None
    found = getattr(df, "_jdf", None)
    if found is None:
        raise TypeError(f"Sparqr takes a Spark DataFrame, not {called(kind)}. {_advice(kind)}")
    return found


def require_no_connect(what: str) -> None:
    """RuntimeError if this Python talks to Spark by Spark Connect."""
    if is_connect():
        if is_client_only():
            raise RuntimeError(f"this {what} would go to Sparqr's jar in a JVM at hand, and {CLIENT_ONLY}. {_OVER_IT}")
        raise RuntimeError(f"the session behind this {what} {_CONNECT}")


def called(kind: type) -> str:
    """A type in words: "a pandas Series"."""
    if kind is type(None):
        return "None"
    if kind.__module__ == "builtins":
        return f"{'an' if kind.__name__[0] in 'aeiou' else 'a'} {kind.__name__}"
    return f"a {kind.__module__.split('.')[0]} {kind.__qualname__}"


def _advice(kind: type) -> str:
    module = kind.__module__
    if module.startswith("pyspark.pandas."):
        return "Make one of it: df.to_spark(), its features in one vector column (VectorAssembler)"
    if module.startswith("pyspark.") and kind.__name__.endswith("RDD"):
        return 'Make one of it: spark.createDataFrame(rdd, ["label", "features"]), the features as vectors'
    advice = _DENSE if kind in (list, tuple) else _ADVICE.get(module.split(".")[0])
    if advice is None:
        return "It has the columns label (numbers) and features (vectors of pyspark.ml.linalg)"
    return "Make one of it, spark being your session:" + advice
