# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Which rows a regression takes: those that lack nothing, and have no effect for themselves alone."""

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

# Where a formula's functions have values.
_ABOVE = {"LOG": 0, "LOG2": 0, "LOG10": 0, "LOG1P": -1}


@dataclass(frozen=True)
class Variable:
    """A variable of a formula.

    Attributes
    ----------
    name : str
        As the formula writes it.
    column : str
        What it is read from.
    function : str
        What is taken of that, by the name that the JVM has for it: "IDENTITY", "FACTOR", "LOG", ...
    response : bool
        Whether it stands before the tilde.
    absorbed : tuple of int
        The absorbed terms that it is part of, from 0.
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
        Whose JVM, or server, reads the formula.
    formula : str
        As Sparqr's parser in the JVM reads it.
    columns : sequence of str
        What a dot stands for.
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


def local_rows(
    table: pyarrow.Table, of: Sequence[Variable], others: Sequence[str], singletons: bool
) -> numpy.ndarray:
    """The rows of a table that a regression takes, a truth value each.

    Parameters
    ----------
    table : pyarrow.Table
        Has the columns.
    of : sequence of Variable
        The formula's.
    others : sequence of str
        Further columns that a row must have a value in.
    singletons : bool
        Whether rows stay that are alone with an absorbed effect.
    """
    import numpy
    import pyarrow.compute as compute

    kept = numpy.ones(table.num_rows, dtype=bool)
    for column in {*others, *(v.column for v in of)}:
        if table.column(column).null_count:
            kept &= compute.is_valid(table.column(column)).to_numpy()
    for v in of:
        bound = 0 if v.function == "SQRT" else _ABOVE.get(v.function)
        if bound is not None:
            test = compute.greater_equal if v.function == "SQRT" else compute.greater
            kept &= compute.fill_null(test(table.column(v.column), bound), False).to_numpy()
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
    return kept


def _codes(table: pyarrow.Table, columns: Sequence[str]) -> numpy.ndarray:
    """A number for each combination of the columns' values, from 0; whatever where one is missing."""
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
) -> tuple[DataFrame, list[DataFrame]]:
    """A DataFrame without the rows that are alone with an absorbed effect, and what it has cached.

    Counts the levels of each absorbed term, and again where a row went.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Has the columns.
    of : sequence of Variable
        The formula's.
    others : sequence of str
        Further columns that a row must have a value in.
    """
    from pyspark.sql import functions as f

    terms = absorbed_columns(of)
    cached: list[DataFrame] = []
    if not terms:
        return frame, cached
    whole = [_is_there(_named(c), frame.schema[c].dataType) for c in {*others, *(v.column for v in of)}]
    whole += [_has_value(v) for v in of if v.function == "SQRT" or v.function in _ABOVE]
    frame = frame.where(reduce(lambda a, b: a & b, whole))
    again = True
    while again:
        again = False
        for columns in terms:
            keys = [_named(c).alias(f"__sparqr_{k}") for k, c in enumerate(columns)]
            counted = frame.groupBy(*keys).agg(f.count(f.lit(1)).alias("__sparqr_rows"))
            alone = counted.where("__sparqr_rows = 1").drop("__sparqr_rows").persist()
            if alone.isEmpty():
                alone.unpersist()
                continue
            cached.append(alone)
            same = [_named(c) == f.col(f"__sparqr_{k}") for k, c in enumerate(columns)]
            frame = frame.join(alone, reduce(lambda a, b: a & b, same), "left_anti")
            again = True
    return frame, cached


def _named(column: str) -> Column:
    from pyspark.sql import functions as f

    return f.col("`" + column.replace("`", "``") + "`")


def _is_there(column: Column, kind: Any) -> Column:
    from pyspark.sql import functions as f

    there = column.isNotNull()
    return there & ~f.isnan(column) if kind.typeName() in ("double", "float") else there


def _has_value(v: Variable) -> Column:
    return _named(v.column) >= 0 if v.function == "SQRT" else _named(v.column) > _ABOVE[v.function]
