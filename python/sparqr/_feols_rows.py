# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The data of a regression in their original form, and the rows of them that are fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Sequence

from sparqr import _connect
from sparqr._arrays import active_session
from sparqr._frame import require_frame
from sparqr._sample import Variable, local_rows, spark_rows
from sparqr._tables import column_names, crossing, library, to_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass
class Rows:
    """The columns and rows to fit."""

    frame: DataFrame
    factors: list[str]
    references: dict[str, str]
    kept: Any = None
    cached: Sequence[DataFrame] = ()

    def release(self) -> None:
        for frame in self.cached:
            frame.unpersist()


class Source:
    """The user's data: a local table, or a Spark DataFrame."""

    def __init__(self, data: Any, spark: SparkSession, local: bool):
        self.data, self.spark, self.local = data, spark, local

    @staticmethod
    def of(data: Any) -> Source:
        if library(data):
            return Source(data, _connect.active_session() if _connect.is_connect() else active_session(), True)
        if any(c.__module__.startswith("pyspark.pandas") for c in type(data).__mro__) and hasattr(
            data, "to_spark"
        ):
            data = data.to_spark()
        require_frame(data)
        return Source(data, data.sparkSession, False)

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
            frame, cached = spark_rows(self.data, found, extra) if alone else (self.data, [])
            return Rows(frame, [], {}, None, cached)
        crossed = crossing(self.data, columns)
        kept = local_rows(crossed.table, found, extra, not alone)
        table = crossed.table if kept.all() else crossed.table.filter(kept)
        if table.num_rows == 0:
            raise ValueError("no row has a value in all columns that are used")
        return Rows(to_spark(self.spark, table), crossed.factors, crossed.references, kept)
