# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Passes matrices of SciPy, NumPy, pandas, Polars and Arrow to the JVM as rows, through files of
raw arrays.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from sparqr._errors import SparqrError
from sparqr._frame import require_no_connect
from sparqr._pyspark import require_pyspark

if TYPE_CHECKING:
    import numpy
    from pyspark.sql import SparkSession

# Java's limit for the length of arrays.
_MOST_COLUMNS = 2**31 - 17

# Entries per block when a dense matrix is scanned.
_BLOCK = 1 << 22

_NON_FINITE = "NonFiniteValueException"


@dataclass(frozen=True)
class Matrix:
    """A in compressed row storage, every entry finite, without duplicates.

    Attributes
    ----------
    shape : tuple of int
        (m, n).
    indptr : numpy.ndarray
        int64, shape (m + 1,).
    indices : numpy.ndarray
        int32, shape (nnz,).
    data : numpy.ndarray
        float64, shape (nnz,).
    names : list of str or None
        The columns' names, if A is a table.
    """

    shape: tuple[int, int]
    indptr: numpy.ndarray
    indices: numpy.ndarray
    data: numpy.ndarray
    names: Optional[list[str]] = None


def is_path(A: Any) -> bool:
    """Whether A is a file, or a specification of the gallery."""
    return isinstance(A, (str, os.PathLike))


def existing(path: Union[str, os.PathLike], what: str) -> str:
    """The path as text; FileNotFoundError for a local path that does not exist."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"{what} is a path of bytes: give it as text")
    if ":" not in text and not os.path.exists(text):
        raise FileNotFoundError(f"{what}: there is no file {text}")
    return text


def matrix_of(A: Any) -> Matrix:
    """Converts and checks A of any kind except a file.

    Raises
    ------
    ValueError
        Not two-dimensional, empty, too wide, not numeric; an index out of range.
    SparqrError
        NaN or infinity, with its row and column.
    """
    np = _numpy()
    names = None
    module = type(A).__module__.split(".")[0]
    if module == "scipy" and hasattr(A, "tocsr"):
        matrix = _of_sparse(np, A)
    elif module == "pandas":
        names, A = _of_pandas(np, A)
        matrix = _of_sparse(np, A) if hasattr(A, "tocsr") else _of_dense(np, A, names)
    elif is_table(A):
        names, A = _of_arrow(np, A, "A")
        matrix = _of_dense(np, A, names)
    else:
        matrix = _of_dense(np, A, None)
    _require_finite(np, matrix, names)
    shape, indptr, indices, data = matrix
    return Matrix(shape, indptr, indices, data, names)


def is_table(given: Any) -> bool:
    """Whether something is a table that Arrow can read: from Polars or pyarrow, or with an Arrow
    stream export.
    """
    if type(given).__module__.split(".")[0] in ("numpy", "pandas"):
        return False
    if hasattr(given, "__arrow_c_stream__"):
        return hasattr(given, "columns") or hasattr(given, "column_names")
    return hasattr(given, "to_arrow") and hasattr(given, "columns")


def right_hand_sides(b: Any, m: Optional[int], what: str = "b") -> tuple[numpy.ndarray, bool]:
    """b as float64 of shape (m, k), and whether it was two-dimensional.

    Parameters
    ----------
    b : array_like
        Shape (m,) or (m, k).
    m : int or None
        Required number of rows; None: any.
    what : str
        Name of b in error messages.
    """
    np = _numpy()
    if type(b).__module__.split(".")[0] == "scipy" and hasattr(b, "toarray"):
        array = b.toarray()
    elif type(b).__module__.split(".")[0] == "pandas" and hasattr(b, "columns"):
        _, array = _of_pandas(np, b, what)
        array = array.toarray() if hasattr(array, "toarray") else array
    elif is_table(b):
        _, array = _of_arrow(np, b, what)
    elif type(b).__module__.split(".")[0] == "pandas":
        array = _pandas_column(np, b, what)
    else:
        array = _array(np, b, what)
    several = array.ndim == 2
    if array.ndim not in (1, 2) or (several and array.shape[1] == 0):
        raise ValueError(f"{what} has shape {array.shape}: it is of m numbers, or of m x k")
    if m is not None and len(array) != m:
        raise ValueError(f"{what} has {len(array):,} rows, A has {m:,}")
    array = array.astype(np.float64, copy=False).reshape(len(array), -1)
    finite = np.isfinite(array)
    if not finite.all():
        i, k = np.unravel_index(int(np.argmin(finite)), array.shape)
        where = f"row {i}, column {k} of {what}" if several else f"{what}[{i}]"
        raise SparqrError(f"{where} is {array[i, k]}", _NON_FINITE)
    return array, several


def row_weights(weights: Any, m: Optional[int]) -> Optional[numpy.ndarray]:
    """The weights as float64 of shape (m,), checked; None for None."""
    if weights is None:
        return None
    np = _numpy()
    array, several = right_hand_sides(weights, m, "weights")
    if several:
        raise ValueError(f"weights have shape {array.shape}: they are one number a row")
    array = array[:, 0]
    if (array < 0).any():
        i = int(np.argmax(array < 0))
        raise SparqrError(f"weights[{i}] is negative: {array[i]}", "MatrixFormatException")
    return array


class Folder:
    """A folder of arrays on the driver's machine, under Spark's local directory.

    It is deleted by :meth:`remove`, when it is garbage-collected, or at the latest when the session ends.
    """

    def __init__(self, session: SparkSession, kept: bool = False) -> None:
        context = session.sparkContext
        if context._encryption_enabled:
            raise SparqrError(
                "spark.io.encryption.enabled is set, and arrays go to Spark by files that would not be "
                "encrypted: use sparqr.solve with a DataFrame",
                "UnencryptedFiles",
            )
        self.path: str = tempfile.mkdtemp(prefix="sparqr-", dir=context._temp_dir)
        self._finalizer = weakref.finalize(self, shutil.rmtree, self.path, True)
        if kept:
            self._finalizer.detach()

    def write(self, name: str, values: Any, dtype: str) -> str:
        """Writes an array row by row; returns its path."""
        np = _numpy()
        path = os.path.join(self.path, name)
        np.ascontiguousarray(values, dtype=dtype).tofile(path)
        return path

    def write_matrix(
        self, matrix: Matrix, b: Optional[numpy.ndarray], weights: Optional[numpy.ndarray]
    ) -> None:
        """Writes the files in the format of Java's ArrayFolder."""
        self.write("indptr", matrix.indptr, "<i8")
        self.write("indices", matrix.indices, "<i4")
        self.write("data", matrix.data, "<f8")
        if b is not None:
            self.write("labels", b, "<f8")
        if weights is not None:
            self.write("weights", weights, "<f8")

    def read(self, name: str, dtype: str) -> numpy.ndarray:
        """Reads an array written by Java."""
        return _numpy().fromfile(os.path.join(self.path, name), dtype=dtype)

    def remove(self) -> None:
        """Deletes the folder; idempotent."""
        if self._finalizer.alive:
            self._finalizer()
        else:
            shutil.rmtree(self.path, ignore_errors=True)


def active_session(what: str = "matrix") -> SparkSession:
    """The active Spark session, or a new one by ``sparqr.session()``; what: the kind of data, for
    error messages.
    """
    require_pyspark()
    from pyspark.sql import SparkSession

    require_no_connect(what)
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    from sparqr._session import session

    return session()


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise ImportError("sparqr.lstsq and its like need NumPy: pip install numpy") from None
    return numpy


def _array(np: Any, given: Any, what: str) -> numpy.ndarray:
    """Converts to a numeric array of any shape."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise ValueError(f"{what} is a masked array with entries masked out")
    try:
        array = np.asarray(given)
        if array.dtype.kind == "O":
            array = array.astype(np.float64)
    except (TypeError, ValueError) as e:
        raise ValueError(f"{what} is not an array of numbers: {e}") from None
    _require_real(array.dtype, what)
    return array


def _require_real(dtype: Any, what: str) -> None:
    if dtype.kind == "c":
        raise ValueError(f"{what} is complex ({dtype}): Sparqr solves real problems")
    if dtype.kind not in "biuf":
        raise ValueError(f"{what} is of {dtype}, not of real numbers")


def _shape(shape: Sequence[int]) -> tuple[int, int]:
    if len(shape) != 2:
        raise ValueError(f"A has shape {tuple(shape)}: it must be two-dimensional, m x n")
    m, n = (int(size) for size in shape)
    if m == 0 or n == 0:
        raise ValueError(f"A is {m} x {n}: there is nothing to solve")
    if n > _MOST_COLUMNS:
        raise ValueError(f"A has {n:,} columns, more than {_MOST_COLUMNS:,}")
    return m, n


def _of_sparse(np: Any, A: Any) -> tuple:
    """Compressed rows of a scipy.sparse matrix or array; duplicates are summed, as in SciPy. A is
    not modified.
    """
    m, n = _shape(A.shape)
    _require_real(A.dtype, "A")
    csr = A.tocsr()
    _require_structure(np, csr, m, n)
    if not csr.has_canonical_format:
        csr = csr.copy() if np.may_share_memory(csr.data, getattr(A, "data", csr.data)) else csr
        csr.sum_duplicates()
    return (
        (m, n),
        csr.indptr.astype(np.int64, copy=False),
        csr.indices[: csr.nnz].astype(np.int32, copy=False),
        csr.data[: csr.nnz].astype(np.float64, copy=False),
    )


def _require_structure(np: Any, csr: Any, m: int, n: int) -> None:
    indptr, indices = csr.indptr, csr.indices
    nnz = int(indptr[-1])
    if len(indptr) != m + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise ValueError("A.indptr does not ascend from 0 in m + 1 steps")
    if nnz > len(indices) or nnz > len(csr.data):
        raise ValueError(f"A.indptr ends at {nnz:,}, beyond A.indices or A.data")
    indices = indices[:nnz]
    if nnz and (indices.min() < 0 or indices.max() >= n):
        k = int(np.argmax((indices < 0) | (indices >= n)))
        row = int(np.searchsorted(indptr, k, "right")) - 1
        raise ValueError(f"row {row} of A has the column index {indices[k]}, out of [0, {n})")


def _of_dense(np: Any, A: Any, names: Optional[list[str]]) -> tuple:
    """Compressed rows of an m x n array, built in blocks of rows: zeros are left out."""
    array = _array(np, A, "A")
    m, n = _shape(array.shape)
    counts = np.empty(m, dtype=np.int64)
    indices, data = [], []
    step = max(1, _BLOCK // n)
    for i in range(0, m, step):
        block = np.ascontiguousarray(array[i : i + step])
        there = block != 0
        counts[i : i + step] = np.count_nonzero(there, axis=1)
        indices.append(np.nonzero(there)[1].astype(np.int32))
        data.append(block[there].astype(np.float64, copy=False))
    indptr = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    return (m, n), indptr, np.concatenate(indices), np.concatenate(data)


def _require_finite(np: Any, matrix: tuple, names: Optional[list[str]]) -> None:
    _, indptr, indices, data = matrix
    finite = np.isfinite(data)
    if finite.all():
        return
    k = int(np.argmin(finite))
    row = int(np.searchsorted(indptr, k, "right")) - 1
    column = int(indices[k])
    name = f" ({names[column]})" if names else ""
    raise SparqrError(f"row {row}, column {column}{name} of A is {data[k]}", _NON_FINITE)


def _of_pandas(np: Any, frame: Any, what: str = "A") -> tuple[list[str], Any]:
    """The names, and a dense array, or a sparse matrix if all columns are sparse."""
    import pandas

    if not hasattr(frame, "columns"):
        raise ValueError(f"{what} is a pandas {type(frame).__name__}: it must be a DataFrame")
    names = [str(name) for name in frame.columns]
    types = list(frame.dtypes)
    if types and all(isinstance(t, pandas.SparseDtype) and t.fill_value == 0 for t in types):
        return names, frame.sparse.to_coo()
    array = np.empty(frame.shape, dtype=np.float64, order="F")
    for j, name in enumerate(names):
        array[:, j] = _pandas_column(np, frame.iloc[:, j], f"column {name!r} of {what}")
    return names, array


def _pandas_column(np: Any, column: Any, what: str) -> numpy.ndarray:
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

    numeric = is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype)
    if not numeric or is_complex_dtype(column.dtype):
        raise ValueError(f"{what} is of {column.dtype}, not of real numbers")
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _of_arrow(np: Any, table: Any, what: str) -> tuple[list[str], numpy.ndarray]:
    """Names and values of a table, read through Arrow."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{what} comes by Arrow: pip install pyarrow") from None
    if not isinstance(table, pyarrow.Table):
        stream = hasattr(table, "__arrow_c_stream__")
        table = pyarrow.table(table) if stream else table.to_arrow()
    kinds = pyarrow.types
    array = np.empty((table.num_rows, table.num_columns), dtype=np.float64, order="F")
    for j, name in enumerate(table.column_names):
        column = table.column(j)
        kind = column.type
        if kinds.is_boolean(kind) or kinds.is_decimal(kind):
            column = column.cast(pyarrow.float64())
        elif not (kinds.is_integer(kind) or kinds.is_floating(kind)):
            raise ValueError(f"column {name!r} of {what} is of {kind}, not of real numbers")
        if column.null_count:
            row = int(np.argmax(column.is_null().to_numpy()))
            raise SparqrError(f"row {row}, column {name!r} of {what} is null", _NON_FINITE)
        array[:, j] = column.to_numpy()
    return list(table.column_names), array
