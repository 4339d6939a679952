# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Selects the rows of a regression: complete rows, optionally without rows alone in a level of an effect."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Sequence

from sparqr import _connect
from sparqr._jvm import java_class

if TYPE_CHECKING:
    import numpy
    import pyarrow
    from pyspark.sql import Column, DataFrame

# Greatest lower bound of the domain of a formula's functions, itself excluded.
_ABOVE = {"LOG": 0, "LOG2": 0, "LOG10": 0, "LOG1P": -1}


@dataclass(frozen=True)
class Variable:
    """A variable of a formula.

    Attributes
    ----------
    name : str
        Its spelling in the formula.
    column : str
        The column it is read from.
    function : str
        The function of the column, by its name in the JVM: "IDENTITY", "FACTOR", "LOG", ...
    response : bool
        Whether it is on the left of the tilde.
    absorbed : tuple of int
        Numbers of the absorbed terms that contain it, from 0.
    """

    name: str
    column: str
    function: str
    response: bool
    absorbed: tuple[int, ...]


def variables(spark: Any, formula: str, columns: Sequence[str]) -> list[Variable]:
    """The variables of a formula, offsets among them.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        Session whose JVM, or server, parses the formula.
    formula : str
        The formula, for Sparqr's parser in the JVM.
    columns : sequence of str
        The columns that a dot stands for.
    """
    made = []
    for role, name, function, column in _read(spark, formula, columns):
        absorbed = tuple(int(t) for t in role.split(",") if t.isdigit())
        made.append(Variable(name, column, function, role == "response", absorbed))
    return made


def _read(spark: Any, formula: str, columns: Sequence[str]) -> Any:
    if _connect.is_connect_type(type(spark)):
        return _connect.variables(spark, formula, columns)
    jvm = spark._jvm
    names = jvm.java.util.ArrayList()
    for name in columns:
        names.add(name)
    return java_class(jvm, "io.sparqr.spark.python.PythonSupport").variables(formula, names)


def absorbed_columns(of: Sequence[Variable]) -> list[list[str]]:
    """The columns of each absorbed term."""
    count = 1 + max((t for v in of for t in v.absorbed), default=-1)
    return [[v.column for v in of if t in v.absorbed] for t in range(count)]


@dataclass(frozen=True)
class Sample:
    """The rows of a local table that a regression uses.

    Attributes
    ----------
    kept : numpy.ndarray
        Whether each row is used.
    left_out : str
        How many are not, and why; empty if all are.
    """

    kept: numpy.ndarray
    left_out: str


def local_rows(table: pyarrow.Table, of: Sequence[Variable], others: Sequence[str], singletons: bool) -> Sample:
    """Which rows of a table a regression uses.

    Parameters
    ----------
    table : pyarrow.Table
        A table with these columns.
    of : sequence of Variable
        The formula's variables.
    others : sequence of str
        Further columns in which a row must have a value.
    singletons : bool
        Whether rows alone in a level of an absorbed effect stay.
    """
    import numpy
    import pyarrow
    import pyarrow.compute as compute

    kept = numpy.ones(table.num_rows, dtype=bool)
    lacking: dict[str, int] = {}

    def require(there: numpy.ndarray, name: str) -> None:
        missing = int(numpy.count_nonzero(~there))
        if missing:
            lacking[name] = missing
            numpy.logical_and(kept, there, out=kept)

    for column in dict.fromkeys([*(v.column for v in of), *others]):
        if table.column(column).null_count:
            require(compute.is_valid(table.column(column)).to_numpy(), column)
    for v in of:
        bound = 0 if v.function == "SQRT" else _ABOVE.get(v.function)
        if bound is not None:
            test = compute.greater_equal if v.function == "SQRT" else compute.greater
            try:
                found = test(table.column(v.column), bound)
            except pyarrow.ArrowException:
                kind = table.schema.field(v.column).type
                raise ValueError(f"{v.name}: {v.column} is no column of numbers but of type {kind}") from None
            there = compute.fill_null(found, True).to_numpy()
            require(there, v.name)
    complete = int(numpy.count_nonzero(kept))
    terms = [] if singletons else [_codes(table, columns) for columns in absorbed_columns(of)]
    again = True
    while again:
        again = False
        for codes in terms:
            alone = numpy.bincount(codes[kept], minlength=1) == 1
            if alone.any():
                before = numpy.flatnonzero(kept)
                kept[before[alone[codes[before]]]] = False
                again = True
    gone = complete - int(numpy.count_nonzero(kept))
    return Sample(kept, _left_out(table.num_rows - complete, lacking, gone))


def _left_out(rows: int, lacking: dict[str, int], alone: int) -> str:
    said = []
    if rows:
        which = ", ".join(f"{name} ({count:,})" for name, count in lacking.items())
        said.append(f"{rows:,} {'row' if rows == 1 else 'rows'} left out for want of {which}")
    if alone:
        said.append(singletons_left_out(alone))
    return "; ".join(said)


def singletons_left_out(rows: int) -> str:
    """That rows alone in a level of an absorbed effect are left out, in words."""
    return f"{rows:,} {'row' if rows == 1 else 'rows'} left out as alone in a level of an effect"


def _codes(table: pyarrow.Table, columns: Sequence[str]) -> numpy.ndarray:
    """A number from 0 for each combination of the columns' values; arbitrary if a value is missing."""
    import numpy
    import pyarrow.compute as compute

    codes = numpy.zeros(table.num_rows, dtype=numpy.int64)
    for column in columns:
        one = table.column(column).combine_chunks().dictionary_encode()
        own = compute.fill_null(one.indices, 0).to_numpy(zero_copy_only=False)
        if codes.any():
            codes = codes * max(1, len(one.dictionary)) + own
            codes = numpy.unique(codes, return_inverse=True)[1]
        else:
            codes = own.astype(numpy.int64)
    return codes


def spark_rows(
    frame: DataFrame, of: Sequence[Variable], others: Sequence[str]
) -> tuple[DataFrame, list[DataFrame], int]:
    """A DataFrame without rows alone in a level of an absorbed effect, the DataFrames cached for it, and the
    number of those rows.

    Counts the levels of each absorbed term, and again whenever a row was removed. Rows that lack a value do
    not count, and stay: the fit leaves them out, and says so.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        A DataFrame with these columns.
    of : sequence of Variable
        The formula's variables.
    others : sequence of str
        Further columns in which a row must have a value.
    """
    from pyspark.sql import functions as f

    terms = absorbed_columns(of)
    cached: list[DataFrame] = []
    if not terms:
        return frame, cached, 0
    names = frame.columns
    # Names that no column has: Spark takes x and X for the same.
    number = {name: f"sparqr_{k}" for k, name in enumerate(names)}
    kinds = {name: field.dataType for name, field in zip(names, frame.schema.fields)}
    numbered = frame.toDF(*number.values())
    whole = [
        _is_there(f.col(number[c]), kinds[c]) for c in dict.fromkeys([*others, *(v.column for v in of)])
    ]
    whole += [
        _has_value(f.col(number[v.column]), v) for v in of if v.function == "SQRT" or v.function in _ABOVE
    ]
    complete = numbered.where(reduce(lambda a, b: a & b, whole))
    removed = 0
    again = True
    while again:
        again = False
        for columns in terms:
            keys = [f.col(number[c]).alias(f"__sparqr_{k}") for k, c in enumerate(columns)]
            counted = complete.groupBy(*keys).agg(f.count(f.lit(1)).alias("__sparqr_rows"))
            alone = counted.where("__sparqr_rows = 1").drop("__sparqr_rows").persist()
            count = alone.count()
            if count == 0:
                alone.unpersist()
                continue
            removed += count
            cached.append(alone)
            same = [f.col(number[c]) == f.col(f"__sparqr_{k}") for k, c in enumerate(columns)]
            numbered = numbered.join(alone, reduce(lambda a, b: a & b, same), "left_anti")
            complete = complete.join(alone, reduce(lambda a, b: a & b, same), "left_anti")
            again = True
    return numbered.toDF(*names), cached, removed


def _is_there(column: Column, kind: Any) -> Column:
    from pyspark.sql import functions as f

    there = column.isNotNull()
    return there & ~f.isnan(column) if kind.typeName() in ("double", "float") else there


def _has_value(column: Column, v: Variable) -> Column:
    return column >= 0 if v.function == "SQRT" else column > _ABOVE[v.function]
