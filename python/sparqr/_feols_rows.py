# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The data of a regression in their original form, and the rows of them that are fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Sequence

from sparqr import _connect
from sparqr._arrays import active_session
from sparqr._frame import require_frame
from sparqr._sample import Variable, local_rows, singletons_left_out, spark_rows
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
    left_out: str = ""

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
            frame, cached, gone = spark_rows(self.data, found, extra) if alone else (self.data, [], 0)
            return Rows(frame, [], {}, None, cached, singletons_left_out(gone) if gone else "")
        crossed = crossing(self.data, columns)
        sample = local_rows(crossed.table, found, extra, not alone)
        kept = sample.kept
        table = crossed.table if kept.all() else crossed.table.filter(kept)
        if table.num_rows == 0:
            raise ValueError(f"no row has a value in all columns that are used and is not left out: {sample.left_out}")
        frame = to_spark(self.spark, table)
        return Rows(frame, crossed.factors, crossed.references(kept), kept, (), sample.left_out)
