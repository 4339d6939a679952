# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A problem as rows in the JVM, from arrays or from a file."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Optional, Union

from sparqr._arrays import (
    Folder,
    Matrix,
    existing,
    is_path,
    matrix_of,
    right_hand_sides,
    row_weights,
)
from sparqr._jvm import java_class

if TYPE_CHECKING:
    import numpy
    from pyspark.sql import SparkSession

_ARRAYS = "io.sparqr.spark.arrays."


@dataclass(frozen=True)
class Problem:
    """A, b and the weights, checked as far as Python can.

    Attributes
    ----------
    matrix : Matrix or str
        A, or its file.
    b : numpy.ndarray or str or None
        float64, shape (m, k); or its file; None: no b, or A's file contains it.
    several : bool
        Whether solutions are two-dimensional.
    weights : numpy.ndarray or None
        float64, shape (m,).
    """

    matrix: Union[Matrix, str]
    b: Union[numpy.ndarray, str, None]
    several: bool
    weights: Optional[numpy.ndarray]

    @property
    def names(self) -> Optional[list[str]]:
        """The columns' names, if A is a table."""
        return None if isinstance(self.matrix, str) else self.matrix.names

    def arrays(self) -> tuple[Matrix, numpy.ndarray | None]:
        """The matrix and b, which must not be files."""
        assert isinstance(self.matrix, Matrix) and not isinstance(self.b, str)
        return self.matrix, self.b


def problem_of(A: Any, b: Any, weights: Any) -> Problem:
    """Checks A, b and the weights; b may be None."""
    if not is_path(A):
        if is_path(b):
            raise ValueError("b is a file and A is none: read it, by scipy.io.mmread say")
        matrix = matrix_of(A)
        m = matrix.shape[0]
        sides, several = (None, False) if b is None else right_hand_sides(b, m)
        return Problem(matrix, sides, several, row_weights(weights, m))
    file = existing(A, "A")
    scales = row_weights(weights, None)
    if is_path(b):
        if scales is not None:
            raise ValueError("weights want b as an array: read it, by scipy.io.mmread say")
        return Problem(file, existing(b, "b"), True, None)
    sides, several = (None, False) if b is None else right_hand_sides(b, None)
    if sides is not None and scales is not None and len(sides) != len(scales):
        raise ValueError(f"b has {len(sides):,} rows, weights have {len(scales):,}")
    return Problem(file, sides, several, scales)


class Rows:
    """Rows in the JVM, until closed; made in a call's own thread."""

    def __init__(self, session: SparkSession, problem: Problem, partitions: int = 0) -> None:
        self._session, self._jvm = session, session._jvm
        self.folder = Folder(session)
        self._source: Any = None
        self._cuts: Any = None
        try:
            open_rows = self._of_file if isinstance(problem.matrix, str) else self._of_arrays
            open_rows(problem, partitions)
        except BaseException:
            self.close()
            raise

    def _of_arrays(self, problem: Problem, partitions: int) -> None:
        matrix, b = problem.arrays()
        self.folder.write_matrix(matrix, b, problem.weights)
        self.shape = matrix.shape
        self._source = array_rows(self._session, self.folder, problem, partitions)

    def _of_file(self, problem: Problem, partitions: int) -> None:
        import numpy

        reader = java_class(self._jvm, "io.sparqr.spark.input.MatrixRows")
        columns = [c for c in (problem.b, problem.weights) if c is not None and not isinstance(c, str)]
        raw, count = "", 0
        if columns:
            beside = numpy.column_stack(columns)
            count = beside.shape[1]
            raw = self.folder.write("beside", beside.T, "<f8")
        file = problem.b if isinstance(problem.b, str) else ""
        told = reader.Beside(file, raw, count, problem.weights is not None)
        with _file_errors():
            self._source = reader.open(self._session._jsparkSession, problem.matrix, told, partitions)
        self.shape = (self._source.rowCount(), self._source.columns())

    @property
    def jrdd(self) -> Any:
        """The JavaRDD."""
        return self._source.rows()

    def labels(self, b: numpy.ndarray) -> Labels:
        """Further right-hand sides, aligned; shape (m, k)."""
        if self._cuts is None:
            self._cuts = self._source.cuts()
        return Labels(self._session, b, self._cuts)

    def close(self) -> None:
        """Releases everything; idempotent."""
        try:
            if self._source is not None:
                self._source.close()
        finally:
            self._source = None
            self.folder.remove()


class Labels:
    """Right-hand sides in the JVM, until closed."""

    def __init__(self, session: SparkSession, b: numpy.ndarray, cuts: Any) -> None:
        self._folder = Folder(session)
        self._source: Any = None
        try:
            file = self._folder.write("labels", b, "<f8")
            opener = java_class(session._jvm, _ARRAYS + "ArrayLabels")
            self._source = opener.open(session.sparkContext._jsc, file, b.shape[1], cuts)
        except BaseException:
            self.close()
            raise

    @property
    def jrdd(self) -> Any:
        """The JavaRDD."""
        return self._source.labels()

    def close(self) -> None:
        """Releases everything; idempotent."""
        try:
            if self._source is not None:
                self._source.close()
        finally:
            self._source = None
            self._folder.remove()

    def __enter__(self) -> Labels:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def array_rows(session: SparkSession, folder: Folder, problem: Problem, partitions: int) -> Any:
    """Java's ArrayRows for a folder already written."""
    matrix, b = problem.arrays()
    jvm = session._jvm
    source = java_class(jvm, _ARRAYS + "ArrayFolder")(
        folder.path,
        matrix.shape[0],
        matrix.shape[1],
        0 if b is None else b.shape[1],
        problem.weights is not None,
    )
    opener = java_class(jvm, _ARRAYS + "ArrayRows")
    return opener.open(session.sparkContext._jsc, source, partitions)


def has_labels(session: SparkSession, file: str) -> bool:
    """Whether a file contains right-hand sides."""
    reader = java_class(session._jvm, "io.sparqr.spark.input.MatrixRows")
    with _file_errors():
        return bool(reader.labeled(file))


@contextmanager
def _file_errors() -> Iterator[None]:
    """Turns Java's errors for invalid names and missing files into Python's."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import IllegalArgumentException

    try:
        yield
    except IllegalArgumentException as e:
        raise ValueError(str(e).splitlines()[0]) from None
    except Py4JJavaError as e:
        name = e.java_exception.getClass().getName()
        if name in ("java.nio.file.NoSuchFileException", "java.io.FileNotFoundException"):
            raise FileNotFoundError(e.java_exception.getMessage()) from None
        raise
