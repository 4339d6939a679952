# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The data of a regression in their original form, and the rows of them that are fitted."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Sequence

from sparqr import _connect
from sparqr._arrays import active_session, existing, is_path
from sparqr._calls import in_thread
from sparqr._frame import called, is_frame
from sparqr._jvm import java_class
from sparqr._sample import Variable, local_rows, singletons_left_out, spark_rows
from sparqr._tables import Sent, column_names, crossing, local_table, to_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass
class Rows:
    """The columns and rows to fit. They own what a local table lies in, which goes with them."""

    frame: DataFrame
    factors: list[str]
    references: dict[str, str]
    kept: Any = None
    cached: Sequence[DataFrame] = ()
    left_out: str = ""
    sent: Sent | None = None

    def release(self) -> None:
        for frame in self.cached:
            frame.unpersist()


def _advice(data: Any) -> str:
    if isinstance(data, (dict, list, tuple)):
        return ". Make one of it: pandas.DataFrame(data)"
    if getattr(data, "ndim", None) == 1 or hasattr(data, "to_frame"):
        return ". This is a single column"
    return ". Make one of it: pandas.DataFrame(data, columns=[...])" if hasattr(data, "shape") else ""


def _read(spark: SparkSession, path: str) -> DataFrame:
    """A file or folder as bin/sparqr regress reads it: Parquet, or CSV."""
    jvm: Any = spark._jvm
    # the JVM may have started in another folder
    place = path if ":" in path else os.path.abspath(path)
    uri = java_class(jvm, "io.sparqr.spark.input.MatrixFormat").uri(place)
    within = os.listdir(path) if os.path.isdir(path) else [path]
    if any(name.lower().endswith((".parquet", ".parq", ".pq")) for name in within):
        return spark.read.parquet(uri)
    options = java_class(jvm, "io.sparqr.spark.table.TableOptions").builder().build()
    reader = java_class(jvm, "io.sparqr.spark.table.TableReader")
    from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

    def work() -> Any:
        return reader.csv(spark._jsparkSession, path, uri, options).rows()

    return ClassicFrame(in_thread(spark, "sparqr.feols", work), spark)


class Source:
    """The user's data: a local table, or a Spark DataFrame."""

    def __init__(self, data: Any, spark: SparkSession, local: bool):
        self.data, self.spark, self.local = data, spark, local

    @staticmethod
    def of(data: Any) -> Source:
        if is_path(data):
            frame = _read(active_session("table"), existing(data, "data"))
            return Source(frame, frame.sparkSession, False)
        if any(c.__module__.startswith("pyspark.pandas") for c in type(data).__mro__) and hasattr(
            data, "to_spark"
        ):
            data = data.to_spark()
        if is_frame(data):
            return Source(data, data.sparkSession, False)
        table = local_table(data)
        if table is None:
            raise TypeError(
                f"data is {called(type(data))}, not a table: feols takes one of pandas, Polars, PyArrow, DuckDB, Ibis or "
                f"Spark, or the path of a CSV or Parquet file{_advice(data)}"
            )
        return Source(table, _connect.active_session() if _connect.is_connect() else active_session(), True)

    def dot(self, without: Sequence[str]) -> list[str]:
        """The columns that a dot in a formula stands for."""
        names = column_names(self.data) if self.local else self.data.columns
        return [name for name in names if name not in without]

    def rows(self, found: Sequence[Variable], extra: Sequence[str], alone: bool) -> Rows:
        """The columns used, and the rows, optionally without rows alone in a level of an absorbed effect."""
        columns = list(dict.fromkeys([*(v.column for v in found), *extra]))
        if not self.local:
            names = self.data.columns
            for column in columns:
                if column not in names:
                    raise ValueError(f"no column {column}; there are {', '.join(names)}")
            frame, cached, gone = spark_rows(self.data, found, extra) if alone else (self.data, [], 0)
            return Rows(frame, [], {}, None, cached, singletons_left_out(gone) if gone else "")
        crossed = crossing(self.data, columns)
        sample = local_rows(crossed.table, found, extra, not alone)
        kept = sample.kept
        table = crossed.table if kept.all() else crossed.table.filter(kept)
        if table.num_rows == 0:
            raise ValueError(f"no row has a value in all columns that are used and is not left out: {sample.left_out}")
        sent = to_spark(self.spark, table)
        return Rows(sent.frame, crossed.factors, crossed.references(kept), kept, (), sample.left_out, sent)
