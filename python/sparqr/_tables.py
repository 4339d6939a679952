# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Passes tables of pandas, Polars and PyArrow to Spark as Arrow, column by column."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Sequence

from sparqr import _connect
from sparqr._arrays import Folder
from sparqr._jvm import java_class
from sparqr._master import is_local

if TYPE_CHECKING:
    import numpy
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

# Minimum rows and maximum bytes of a partition: partitions are sent inside tasks.
_ROWS = 10_000

# Bytes from which a table travels once where it can; row groups in a partition, which even out its rows.
_SMALL = 1 << 20
_GROUPS = 8
_BYTES = 1 << 26


_FRAMES = {"pandas": ("DataFrame",), "polars": ("DataFrame", "LazyFrame"), "pyarrow": ("Table", "RecordBatch")}


@dataclass
class Crossing:
    """Columns of a table, in types that Spark supports.

    Attributes
    ----------
    table : pyarrow.Table
        Numbers, booleans, strings; dictionaries are replaced by their values.
    categories : dict of str to tuple
        By categorical column: the number of each row's category, -1 for none, and the categories in order.
    factors : list of str
        Categorical columns of numbers, no longer recognizable as factors by their type.
    """

    table: pyarrow.Table
    categories: dict[str, tuple[numpy.ndarray, list[Any]]] = field(default_factory=dict)
    factors: list[str] = field(default_factory=list)

    def references(self, kept: numpy.ndarray) -> dict[str, str]:
        """By categorical column the first category in these rows, where it is not the first in ascending order.

        Parameters
        ----------
        kept : numpy.ndarray
            Whether each row is used.
        """
        import numpy

        first = {}
        for column, (codes, categories) in self.categories.items():
            there = [categories[code] for code in numpy.unique(codes[kept]) if code >= 0]
            if there and there[0] != min(there, key=_sorted_by):
                first[column] = str(there[0])
        return first


def library(data: Any) -> str | None:
    """The library of a local table: "pandas", "polars" or "pyarrow"; None for other data.

    Parameters
    ----------
    data : object
        Anything.
    """
    for kind in type(data).__mro__:  # a subclass is as good: GeoDataFrame
        found = kind.__module__.split(".")[0]
        if kind.__name__ in _FRAMES.get(found, ()):
            return found
    return None


def local_table(data: Any) -> Any:
    """A local table of a library that :func:`library` knows; None for other data. Whatever hands out its columns by
    Arrow is made one: a relation of DuckDB, a table expression of Ibis, ...

    Parameters
    ----------
    data : object
        Anything.
    """
    if library(data):
        return data
    import pyarrow

    if hasattr(data, "__arrow_c_stream__"):
        try:
            return pyarrow.RecordBatchReader.from_stream(data).read_all()
        except pyarrow.ArrowException:
            return None  # a single column
    for name in ("to_arrow_table", "to_pyarrow", "fetch_arrow_table"):
        if callable(getattr(data, name, None)):
            made = getattr(data, name)()
            return made if library(made) else None
    return None


def require_arrow(what: str) -> None:
    """ImportError with installation advice, unless pyarrow and pandas are installed."""
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as e:
        raise ImportError(
            f'{what} needs pandas and PyArrow: pip install "sparqr[feols]", or pip install pandas pyarrow'
        ) from e


def column_names(data: Any) -> list[str]:
    """Column names of a table that a formula can use: strings only."""
    if library(data) == "pyarrow":
        names: Iterable[Any] = data.schema.names
    elif type(data).__name__ == "LazyFrame":
        names = data.collect_schema().names()
    else:
        names = data.columns
    return [name for name in names if isinstance(name, str)]


def crossing(data: Any, columns: Sequence[str]) -> Crossing:
    """Selected columns of a table, in types that Spark supports.

    Parameters
    ----------
    data : pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.Table or pyarrow.RecordBatch
        The table.
    columns : sequence of str
        The columns.

    Raises
    ------
    ValueError
        A column is missing, occurs twice, or has no single type.
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
    """Converts to a type known to Spark's Arrow reader; records the categories."""
    import pyarrow
    import pyarrow.compute as compute
    from pyarrow import types

    kind = array.type
    if types.is_dictionary(kind):
        array = array.unify_dictionaries()
        _note_categories(array, column, into)
        array = array.cast(kind.value_type)
        kind = array.type
    if isinstance(kind, pyarrow.BaseExtensionType) or types.is_interval(kind) or types.is_duration(kind):
        raise ValueError(f"column {column}: no column of Spark holds values of type {kind}: make texts of them, .astype(str)")
    if types.is_large_string(kind) or str(kind) == "string_view":
        return array.cast(pyarrow.string())
    if types.is_unsigned_integer(kind):
        return array.cast(pyarrow.int64())
    if types.is_float16(kind) or types.is_float32(kind) or types.is_null(kind):
        array = array.cast(pyarrow.float64())
    if types.is_floating(array.type):
        # as in pandas, NaN means missing
        return compute.if_else(compute.is_nan(array), pyarrow.scalar(None, array.type), array)
    return array


def _note_categories(array: pyarrow.ChunkedArray, column: str, into: Crossing) -> None:
    import pyarrow.compute as compute
    from pyarrow import types

    whole = array.combine_chunks()
    codes = compute.fill_null(whole.indices.cast("int64"), -1).to_numpy(zero_copy_only=False)
    categories = whole.dictionary.to_pylist()
    if all(isinstance(c, (str, int)) and not isinstance(c, bool) for c in categories):
        into.categories[column] = codes, categories
    if types.is_integer(array.type.value_type) or types.is_floating(array.type.value_type):
        into.factors.append(column)


def _sorted_by(category: str | int) -> Any:
    """The order of levels in the JVM: texts by their bytes."""
    return category.encode() if isinstance(category, str) else category


@dataclass
class Sent:
    """A table in Spark, and the folder that it lies in, if it does in one.

    The folder is deleted by :meth:`close`, or when this object is garbage-collected: keep it as long as the
    frame is read.
    """

    frame: DataFrame
    folder: Folder | None = None

    def close(self) -> None:
        """Deletes the folder, after which the frame cannot be read; idempotent."""
        if self.folder is not None:
            self.folder.remove()


def to_spark(spark: SparkSession, table: pyarrow.Table) -> Sent:
    """A DataFrame of a table, with its rows in order. Unless the table is small, its partitions travel once: by a file
    that the tasks read in local mode, on a cluster by broadcasts, of which each executor fetches what its tasks read.
    Otherwise they are parts of the tasks of every pass over the rows.

    Parameters
    ----------
    spark : SparkSession
        The session.
    table : pyarrow.Table
        Result of :func:`crossing`.
    """
    if _connect.is_connect_type(type(spark)):
        # inside the client's messages
        return Sent(spark.createDataFrame(table))
    parts = spark.sparkContext.defaultParallelism
    most = max(1, int(_BYTES * table.num_rows / max(1, table.nbytes)))
    rows = min(most, max(_ROWS, -(-table.num_rows // parts)))
    if table.nbytes >= _SMALL and _travels_as_it_is(spark, table):
        if not is_local(spark.sparkContext.master):
            return Sent(_by_broadcasts(spark, table, rows))
        if len({name.casefold() for name in table.schema.names}) == len(table.schema.names):
            # Spark reads files by names in any case
            return _by_file(spark, table, parts)
    with _set(spark, {_BATCH: str(rows), _LOCAL: "0"}):
        return Sent(spark.createDataFrame(table))


def _travels_as_it_is(spark: SparkSession, table: pyarrow.Table) -> bool:
    """Whether Spark reads the table with the same types, and files of this machine may have what it contains."""
    from pyarrow import types

    if spark.sparkContext._encryption_enabled:
        return False
    plain = (types.is_signed_integer, types.is_float64, types.is_boolean, types.is_string, types.is_date32)
    return all(any(same(kind) for same in plain) for kind in table.schema.types)


def _by_file(spark: SparkSession, table: pyarrow.Table, parts: int) -> Sent:
    """A DataFrame of a Parquet file. Spark keeps the order of the rows of a single file, whose row groups it cuts into
    partitions."""
    import pyarrow
    import pyarrow.parquet as parquet
    from pyspark.sql.pandas.types import from_arrow_schema

    folder = Folder(spark)
    file = os.path.join(folder.path, "table.parquet")
    try:
        rows = max(_ROWS, -(-table.num_rows // (_GROUPS * parts)))
        # a dictionary of measured values would be as long as they are
        few = [f.name for f in table.schema if not pyarrow.types.is_floating(f.type)]
        parquet.write_table(table, file, row_group_size=rows, compression="none", use_dictionary=few or False)
        # Spark would find the types by a job
        return Sent(spark.read.schema(from_arrow_schema(table.schema)).parquet(file), folder)
    except BaseException:
        folder.remove()
        raise


def _by_broadcasts(spark: SparkSession, table: pyarrow.Table, rows: int) -> DataFrame:
    """A DataFrame with a partition for each block of rows, in a broadcast that Spark gives up with the DataFrame."""
    from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame
    from pyspark.sql.pandas.types import from_arrow_schema

    folder = Folder(spark)
    try:
        file = os.path.join(folder.path, "batches")
        ends = []
        with open(file, "wb") as out:
            for batch in table.combine_chunks().to_batches(max_chunksize=rows):
                out.write(batch.serialize())
                ends.append(out.tell())
        opener = java_class(spark._jvm, "io.sparqr.spark.arrays.ArrowTable")
        schema = from_arrow_schema(table.schema).json()
        return ClassicFrame(opener.dataset(spark._jsparkSession, file, ends, schema), spark)
    finally:
        folder.remove()


_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"

# Below this size Spark turns the batches into rows on the driver, and serializes each row for its tasks.
_LOCAL = "spark.sql.execution.arrow.localRelationThreshold"

_setting = threading.Lock()


@contextmanager
def _set(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    """Sets session settings temporarily."""
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
