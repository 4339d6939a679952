# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Tables of pandas, Polars and PyArrow: they cross into Spark as Arrow, column by column."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Sequence

from sparqr import _connect

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

# Rows of a partition at least, and bytes at most: tasks carry them.
_ROWS = 10_000
_BYTES = 1 << 26


@dataclass
class Crossing:
    """Columns of a table, as Spark can have them.

    Attributes
    ----------
    table : pyarrow.Table
        Numbers, truth values, texts; dictionaries are their values.
    references : dict of str to str
        Of each categorical column its first category that a row has.
    factors : list of str
        Categorical columns of numbers, which do not look like factors any more.
    """

    table: pyarrow.Table
    references: dict[str, str] = field(default_factory=dict)
    factors: list[str] = field(default_factory=list)


def library(data: Any) -> str | None:
    """What a table is of, if it is here and not in Spark: "pandas", "polars" or "pyarrow".

    Parameters
    ----------
    data : object
        Anything.
    """
    kind = type(data)
    found = kind.__module__.split(".")[0]
    frames = {"pandas": ("DataFrame",), "polars": ("DataFrame", "LazyFrame"), "pyarrow": ("Table", "RecordBatch")}
    names = {c.__name__ for c in kind.__mro__ if c.__module__.split(".")[0] == found}
    return found if names.intersection(frames.get(found, ())) else None


def require_arrow(what: str) -> None:
    """ImportError that says what to install, unless pyarrow and pandas are there."""
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as e:
        raise ImportError(f"{what} needs pandas and pyarrow: pip install pandas pyarrow") from e


def column_names(data: Any) -> list[str]:
    """Names of a table's columns that a formula can have: those that are texts."""
    if library(data) == "pyarrow":
        names: Iterable[Any] = data.schema.names
    elif type(data).__name__ == "LazyFrame":
        names = data.collect_schema().names()
    else:
        names = data.columns
    return [name for name in names if isinstance(name, str)]


def crossing(data: Any, columns: Sequence[str]) -> Crossing:
    """Some columns of a table, as Spark can have them.

    Parameters
    ----------
    data : pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.Table or pyarrow.RecordBatch
        The table.
    columns : sequence of str
        Which.

    Raises
    ------
    ValueError
        If a column is not there, there twice, or of no one type.
    """
    import pyarrow

    names = column_names(data)
    for column in columns:
        if names.count(column) != 1:
            what = "no column" if column not in names else "more than one column"
            raise ValueError(f"{what} {column}; there are {', '.join(names)}")
    made = Crossing(pyarrow.table({}))
    arrays = {}
    for column in columns:
        try:
            arrays[column] = _plain(_column(data, column), column, made)
        except pyarrow.ArrowException as e:
            raise ValueError(f"column {column}: {e}") from e
    made.table = pyarrow.table(arrays)
    return made


def _column(data: Any, column: str) -> pyarrow.ChunkedArray:
    import pyarrow

    of = library(data)
    if of == "pandas":
        found = pyarrow.Array.from_pandas(data[column])
    elif of == "polars":
        some = data.select(column)
        found = (some.collect() if hasattr(some, "collect") else some).to_arrow().column(0)
    else:
        found = data.column(column)
    return found if isinstance(found, pyarrow.ChunkedArray) else pyarrow.chunked_array([found])


def _plain(array: pyarrow.ChunkedArray, column: str, into: Crossing) -> pyarrow.ChunkedArray:
    """Of a type that Spark's reader of Arrow has; notes what categories say."""
    import pyarrow
    import pyarrow.compute as compute
    from pyarrow import types

    kind = array.type
    if types.is_dictionary(kind):
        array = array.unify_dictionaries()
        _note_categories(array, column, into)
        array = array.cast(kind.value_type)
        kind = array.type
    if types.is_large_string(kind) or str(kind) == "string_view":
        return array.cast(pyarrow.string())
    if types.is_unsigned_integer(kind):
        return array.cast(pyarrow.int64())
    if types.is_float16(kind) or types.is_float32(kind) or types.is_null(kind):
        array = array.cast(pyarrow.float64())
    if types.is_floating(array.type):
        # as pandas has them: a NaN is a value that is missing
        return compute.if_else(compute.is_nan(array), pyarrow.scalar(None, array.type), array)
    return array


def _note_categories(array: pyarrow.ChunkedArray, column: str, into: Crossing) -> None:
    import pyarrow.compute as compute
    from pyarrow import types

    firsts = [compute.min(chunk.indices).as_py() for chunk in array.chunks]
    firsts = [code for code in firsts if code is not None]
    if not firsts:
        return
    first = array.chunks[0].dictionary[min(firsts)].as_py()
    if isinstance(first, (str, int)) and not isinstance(first, bool):
        into.references[column] = str(first)
    if types.is_integer(array.type.value_type) or types.is_floating(array.type.value_type):
        into.factors.append(column)


def to_spark(spark: SparkSession, table: pyarrow.Table) -> DataFrame:
    """A DataFrame of a table, its rows in their order.

    Parameters
    ----------
    spark : SparkSession
        Where.
    table : pyarrow.Table
        What :func:`crossing` made.
    """
    if _connect.is_connect_type(type(spark)):
        # in the messages that the client makes of it
        return spark.createDataFrame(table)
    parts = spark.sparkContext.defaultParallelism
    most = max(1, int(_BYTES * table.num_rows / max(1, table.nbytes)))
    rows = min(most, max(_ROWS, -(-table.num_rows // parts)))
    with _set(spark, {_BATCH: str(rows), _LOCAL: "0"}):
        return spark.createDataFrame(table)


_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"

# Below this Spark makes rows of the batches in the driver, and serializes these one by one for its tasks.
_LOCAL = "spark.sql.execution.arrow.localRelationThreshold"

_setting = threading.Lock()


@contextmanager
def _set(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    """Settings of the session, for a moment."""
    with _setting:
        before = {name: spark.conf.get(name) or "" for name in settings}
        try:
            for name, value in settings.items():
                spark.conf.set(name, value)
            yield
        finally:
            for name, value in before.items():
                spark.conf.set(name, value)


def doubles(frame: DataFrame) -> Any:
    """The one column of a DataFrame as a NumPy array, shape (rows,)."""
    return frame.toArrow().column(0).to_numpy()
