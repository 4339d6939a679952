# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Matrices over Spark Connect: they travel as a table of pieces, which the server's stage puts together.

A piece is some consecutive rows of a matrix, its arrays as bytes: the columns of Java's ``SentArrays``. A table of
binary columns, because PySpark's client sends tables, by itself in messages of a size that the server takes, and
because nothing of Python's or ours then runs on the server but a stage of Spark ML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from sparqr import _connect
from sparqr._calls import in_thread
from sparqr._pyspark import require_pyspark
from sparqr._rows import Problem

if TYPE_CHECKING:
    import numpy
    import pyarrow
    from pyspark.sql import DataFrame

_STAGE = "io.sparqr.spark.connect.ArrayProblem"

# Bytes of a piece: at most the upper, if no row is larger, and not below the lower unless partitions need it. Between
# them the pieces are as many as _PIECES: enough for partitions of about equal work.
_LEAST = 1 << 16
_MOST = 1 << 22
_PIECES = 256

# PySpark 4.0 sends a table as one message of Protobuf, which cannot have 2 GiB.
_LIMIT = 2_000_000_000


def remote(session: Any) -> Any:
    """The given session, or the active one, if it is of Spark Connect; otherwise None."""
    require_pyspark()
    if session is not None:
        return session if _connect.is_connect_type(type(session)) else None
    return _connect.active_session() if _connect.is_connect() else None


def require_arrays(problem: Problem) -> None:
    """ValueError if A is a file."""
    if isinstance(problem.matrix, str):
        raise ValueError(
            f"A is the file {problem.matrix}, of which the server of Spark Connect sees nothing: read it here, by "
            "scipy.io.mmread say, or have the server read it: sparqr.solve(spark.read...), with a column of vectors"
        )


def ask(session: Any, work: str, settings: dict[str, Any], words: dict[str, Any], **problems: Optional[Problem]) -> Any:
    """The server's answer about matrices: texts and arrays by name.

    Parameters
    ----------
    session : pyspark.sql.connect.session.SparkSession
        The session.
    work : {"solve", "analyze"}
        What to do.
    settings : dict
        Options of the solver, by their names in Java.
    words : dict
        What else is wanted, by the names of Java's ``ArrayProblem``.
    **problems : Problem or None
        By name: the matrix A, and perhaps others.
    """

    def answered() -> Any:
        sent = session.createDataFrame(pieces(problems))
        return _connect.parcels(_connect.table(_STAGE, _params(work, settings, words), sent, session))

    return in_thread(session, f"sparqr.{work}", answered)


def frame(session: Any, problem: Problem, partitions: int) -> DataFrame:
    """The DataFrame of a matrix, its labels and weights: the stage makes it of the pieces whenever it is read."""

    def made() -> Any:
        sent = session.createDataFrame(pieces({"A": problem}, partitions))
        params = _params("table", {}, {"partitions": partitions})
        return _connect.table(_STAGE, params, sent, session)

    return in_thread(session, "sparqr.from_scipy", made)


def _params(work: str, settings: dict[str, Any], words: dict[str, Any]) -> dict[str, Any]:
    lists = {"options": _connect.option_words(settings), "words": _connect.option_words(words)}
    # the client cannot tell the type of an empty list
    return {"work": work, **{name: found for name, found in lists.items() if found}}


def pieces(problems: dict[str, Optional[Problem]], partitions: int = 0) -> pyarrow.Table:
    """Matrices by name as a table; at least as many pieces of each as partitions, if it has the rows.

    Raises
    ------
    ValueError
        Together they are too large for a message of the client.
    """
    import numpy

    batches = []
    for name, problem in problems.items():
        if problem is None:
            continue
        matrix, b = problem.arrays()
        m, n = matrix.shape
        width = 8 * (1 + (0 if b is None else b.shape[1]) + (problem.weights is not None))
        ends = _cuts(12 * matrix.indptr + width * numpy.arange(m + 1), partitions)
        for part, (i, j) in enumerate(zip(ends, ends[1:])):
            first, last = matrix.indptr[i], matrix.indptr[j]
            arrays = {
                "indptr": (matrix.indptr[i : j + 1], "<i8"),
                "indices": (matrix.indices[first:last], "<i4"),
                "data": (matrix.data[first:last], "<f8"),
                "labels": (None if b is None else b[i:j], "<f8"),
                "weights": (None if problem.weights is None else problem.weights[i:j], "<f8"),
            }
            batches.append(_piece(name, part, len(ends) - 1, n, arrays))
    return _table(batches)


def labels(b: numpy.ndarray) -> pyarrow.Table:
    """Right-hand sides alone, shape (m, k), as a table under the name b."""
    import numpy

    ends = _cuts(8 * b.shape[1] * numpy.arange(len(b) + 1), 0)
    return _table(
        [
            _piece("b", part, len(ends) - 1, b.shape[1], {"labels": (b[i:j], "<f8")})
            for part, (i, j) in enumerate(zip(ends, ends[1:]))
        ]
    )


def _cuts(before: numpy.ndarray, partitions: int) -> list[int]:
    """First rows of the pieces, and the end of the last one.

    Parameters
    ----------
    before : numpy.ndarray
        Bytes before each row, shape (m + 1,).
    partitions : int
        Pieces wanted at least.
    """
    import numpy

    whole = int(before[-1])
    size = min(_MOST, max(_LEAST, whole // _PIECES))
    count = max(1, -(-whole // size), partitions)
    inner = numpy.searchsorted(before, numpy.linspace(0, whole, count + 1)[1:-1])
    return numpy.unique([0, *inner, len(before) - 1]).tolist()


_ARRAYS = ("indptr", "indices", "data", "labels", "weights")


def _piece(name: str, part: int, parts: int, columns: int, arrays: dict[str, Any]) -> pyarrow.RecordBatch:
    """A row of the table."""
    import numpy
    import pyarrow

    row: dict[str, Any] = {
        "name": pyarrow.array([name], pyarrow.string()),
        "part": pyarrow.array([part], pyarrow.int32()),
        "parts": pyarrow.array([parts], pyarrow.int32()),
        "columns": pyarrow.array([columns], pyarrow.int32()),
    }
    for array in _ARRAYS:
        values, dtype = arrays.get(array, (None, ""))
        told = None if values is None else numpy.ascontiguousarray(values, dtype=dtype).tobytes()
        row[array] = pyarrow.array([told], pyarrow.binary())
    return pyarrow.RecordBatch.from_pydict(row)


def _table(batches: list[pyarrow.RecordBatch]) -> pyarrow.Table:
    import pyarrow

    # a batch for each piece: the client splits what it sends between batches
    table = pyarrow.Table.from_batches(batches)
    if table.nbytes > _LIMIT:
        raise ValueError(
            f"A and b are of {table.nbytes / 1e9:.1f} GB, and over Spark Connect at most {_LIMIT / 1e9:.0f} GB are sent: "
            "put them where the server reads, as Parquet with a column of vectors, for sparqr.solve(spark.read...)"
        )
    return table
