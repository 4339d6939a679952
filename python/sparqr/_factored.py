# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A factorization in Spark's JVM: what it is, and what it gives without other rows."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional

from sparqr import _progress
from sparqr._arrays import right_hand_sides
from sparqr._calls import in_thread, is_stopped
from sparqr._explicit_q import QTransposed, applied, columns_of, transposed
from sparqr._jvm import doubles, integers
from sparqr._lstsq import permutation_of, r_of
from sparqr._predictions import Predictions, predictions
from sparqr._report import page_of, read, to_html
from sparqr._rows import Problem, Rows

if TYPE_CHECKING:
    import numpy
    import scipy.sparse
    from pyspark.sql import SparkSession


NO_ROWS = (
    "this factorization has no rows to align numbers with, since it was loaded or appended to: "
    "solve_relabeled takes A with another b"
)


@contextmanager
def file_errors() -> Iterator[None]:
    """Turns Java's errors for folders that are missing or there already into Python's."""
    from py4j.protocol import Py4JJavaError

    kinds = {
        "java.nio.file.FileAlreadyExistsException": FileExistsError,
        "java.io.FileNotFoundException": FileNotFoundError,
    }
    try:
        yield
    except Py4JJavaError as e:
        kind = kinds.get(e.java_exception.getClass().getName())
        if kind is None:
            raise
        raise kind(e.java_exception.getMessage()) from None


def place_of(folder: str | PathLike[str]) -> str:
    """A folder by its whole path: the JVM may have started in another one."""
    text = os.fspath(folder)
    return text if ":" in text else os.path.abspath(text)


def valued(work: Callable[[], Any]) -> Any:
    """Runs work; an illegal argument in the JVM becomes a ValueError."""
    from pyspark.errors import IllegalArgumentException

    try:
        return work()
    except IllegalArgumentException as e:
        raise ValueError(str(e).strip().splitlines()[0]) from None


@dataclass(frozen=True)
class Keeps:
    """Options of a factorization: whether Q is kept, and whether progress is shown."""

    q: bool
    shows: bool


@dataclass
class Held:
    """References to objects in the JVM."""

    rows: Optional[Rows]
    factorization: Any
    problem: Optional[Problem]
    listener: Any
    shape: tuple[int, int]
    several: bool  # whether the b that came with A was two-dimensional
    with_b: bool = True  # whether there was one; in a saved factorization nothing tells it from zeros

    def aligned(self) -> Rows:
        """The rows; ValueError if they are not at hand."""
        if self.rows is None or self.problem is None:
            raise ValueError(NO_ROWS)
        return self.rows

    def require_b(self) -> None:
        """ValueError if there are no right-hand sides."""
        if not self.with_b:
            raise ValueError("no b came with A: sparqr.factorize(A, b), or solve(b)")

    def close(self) -> None:
        try:
            self.factorization.close()
        finally:
            if self.rows is not None:
                self.rows.close()


class Factored:
    """What :class:`Factorization` has of R and Q alone."""

    def __init__(self, spark: SparkSession, settings: Optional[dict[str, Any]], keeps: Keeps) -> None:
        self._spark, self._settings, self._keeps = spark, settings, keeps
        self._kept: Optional[Held] = None

    def _shown(self, what: str, work: Callable[[], Any]) -> Any:
        """A call with the progress that the factorization reports."""
        held, jvm = self._held, self._spark._jvm

        def showing() -> Any:
            with _progress.showing(jvm, held.listener is not None, held.listener):
                return work()

        return self._call(what, showing)

    def _call(self, what: str, work: Callable[[], Any]) -> Any:
        return in_thread(self._spark, what, work)

    @property
    def _held(self) -> Held:
        if self._kept is None:
            raise ValueError("this factorization is closed")
        return self._kept

    def predict(self, A: Any, *, weights: Any = None) -> Predictions:
        """Predictions for new rows by the b that was factored with A, with their errors and intervals.

        Costs a triangular solve with R for each row and right-hand side, in batches, and n values for each on the
        driver: for tens or hundreds of rows.

        Parameters
        ----------
        A : sparse matrix or array, array_like or table
            Shape (rows, n).
        weights : array_like, optional
            Shape (rows,), greater than 0: of the observations to predict. Default: all are 1.

        Raises
        ------
        ValueError
            No b came with A; another number of columns; a weight of 0.
        """
        held = self._held

        def work() -> Predictions:
            held.require_b()
            return self._predicted(A, weights)

        return self._shown("sparqr: predict", work)

    def _predicted(self, A: Any, weights: Any) -> Predictions:
        held = self._held
        return predictions(self._spark, held.factorization, A, weights, held.several)

    def save(self, folder: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Save R, the transformed b and the report in a new folder, for :func:`load`; Q is not saved. About 8 bytes for
        each entry of R, written by the executors, with checksums.

        Parameters
        ----------
        folder : str or path
            On any file system of Hadoop's; a path without a scheme is on the machine of each executor.
        overwrite : bool
            Whether a factorization that is there may be replaced.

        Raises
        ------
        FileExistsError
            There is something in the folder that may not be replaced.
        """
        self._shown("sparqr: save", lambda: self._saved(folder, bool(overwrite)))

    def _saved(self, folder: str | PathLike[str], overwrite: bool) -> None:
        with file_errors():
            self._held.factorization.save(place_of(folder), overwrite)

    def apply_q_transposed(self, y: Any) -> QTransposed:
        """Q'y for vectors y of the rows, by the kept Q. ``sqrt(W) A P = Q R``, so that y is not multiplied by the roots of
        the weights, as b is.

        Parameters
        ----------
        y : array_like
            Shape (m,) or (m, k).

        Returns
        -------
        QTransposed
            ``values`` of shape (rank,) or (rank, k), in the order of the rows of :attr:`r`, and ``rest``, the norms of
            the other m - rank components.

        Raises
        ------
        ValueError
            y and A differ in their numbers of rows; the factorization was loaded or appended to.
        SparqrError
            Q was not kept; NaN or infinity in y, with its place.
        """
        self._held.aligned()
        sides, several = right_hand_sides(y, self.shape[0], "y")
        return self._shown("sparqr: Q'y", lambda: self._transposed(sides, several))

    def _transposed(self, y: numpy.ndarray, several: bool) -> QTransposed:
        held = self._held
        return transposed(self._spark, held.factorization, held.aligned(), y, several)

    def apply_q(self, c: Any) -> numpy.ndarray:
        """Q c, Q being m x rank with orthonormal columns: ``Q @ c`` of a reduced Q of NumPy's. The rows are in the order of
        A's, those of weight 0 are zeros.

        Parameters
        ----------
        c : array_like
            Shape (rank,) or (rank, k), in the order of the rows of :attr:`r`.

        Returns
        -------
        numpy.ndarray
            Shape (m,) or (m, k).

        Raises
        ------
        ValueError
            c is of another size.
        SparqrError
            Q was not kept, the factorization was loaded or appended to.
        """
        sides, several = right_hand_sides(c, None, "c")
        if len(sides) != self.rank:
            raise ValueError(f"c has {len(sides):,} rows, R has {self.rank:,}")
        return self._shown("sparqr: Q c", lambda: self._applied(sides, several))

    def _applied(self, c: numpy.ndarray, several: bool) -> numpy.ndarray:
        return applied(self._spark, self._held.factorization, c, several)

    def q(self, *columns: int) -> numpy.ndarray:
        """Columns of Q, shape (m, k): column i belongs to row i of :attr:`r`.

        Parameters
        ----------
        *columns : int
            Each from 0 to rank - 1.

        Raises
        ------
        IndexError
            One is not.
        ValueError
            There is none.
        """
        asked = [index(j) for j in columns]
        if not asked:
            raise ValueError("no column of Q: q(0, 1, 2)")
        rank = self.rank
        for j in asked:
            if not 0 <= j < rank:
                raise IndexError(f"column {j} of Q, which has {rank:,}")
        return self._shown("sparqr: columns of Q", lambda: self._columns(asked))

    def _columns(self, asked: list[int]) -> numpy.ndarray:
        return columns_of(self._spark, self._held.factorization, asked)

    def criteria(self, probes: int = 64) -> dict[str, Any]:
        """How good Q and R are: ``residual``, ``||AP - QR|| / ||A||``; ``orthogonality``, ``||Q'Q - I||``; ``lower``, what
        Q'AP has below R's diagonal; the bounds of each, and whether they are ``met``. Needs the kept Q.

        Parameters
        ----------
        probes : int
            With n or more the figures are exact but for rounding, with fewer they are estimates by random vectors. Each
            64 cost two products with Q, two with Q', one with R and four passes over the rows.
        """
        if index(probes) < 1:
            raise ValueError(f"{probes} probes: at least 1")
        return json.loads(self._shown("sparqr: criteria", lambda: self._criteria(index(probes))))

    def _criteria(self, probes: int) -> str:
        return self._held.factorization.criteria(probes).toJson()

    def standard_errors_unscaled(self) -> numpy.ndarray:
        """``sqrt(diag((A'WA)^-1))``, shape (n,), NaN in dependent columns: standard errors for sigma = 1."""
        held = self._held
        jvm = self._spark._jvm
        return self._shown("sparqr: errors", lambda: doubles(jvm, held.factorization.unscaledErrors()))

    def leverages(self) -> numpy.ndarray:
        """Leverages of the rows, ``sqrt(w_i) a_i' (A'WA)^-1 a_i sqrt(w_i)`` over the independent columns, shape (m,): the
        diagonal of the hat matrix, whose sum is the rank (less with a ridge). 0 for rows of weight 0.

        Costs about as much as :meth:`standard_errors_unscaled`, which it includes, and a pass over the rows.
        """
        import numpy

        held = self._held
        held.aligned()

        def work() -> numpy.ndarray:
            found = numpy.concatenate([*self._leverages(), numpy.zeros(0)])
            weights = None if held.problem is None else held.problem.weights
            if weights is None:
                return found
            whole = numpy.zeros(len(weights))
            whole[weights > 0] = found
            return whole

        return self._shown("sparqr: leverages", work)

    def _leverages(self) -> list[numpy.ndarray]:
        """Those of the rows of positive weight, in parts."""
        return [doubles(self._spark._jvm, part) for part in self._held.factorization.leverages().collect()]

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n); of a loaded factorization m counts the rows of positive weight."""
        return self._held.shape

    @property
    def rank(self) -> int:
        """Numerical rank of A."""
        held = self._held
        return self._call("sparqr: rank", held.factorization.rank)

    @property
    def dead_columns(self) -> list[int]:
        """Columns that depend on others, ascending."""
        held = self._held
        jvm = self._spark._jvm
        return self._call(
            "sparqr: rank", lambda: integers(jvm, held.factorization.deadColumns()).tolist()
        )

    @property
    def permutation(self) -> numpy.ndarray:
        """Column order P, shape (n,): ``A[:, permutation]`` has the columns of R."""
        held = self._held
        return self._call("sparqr: order", lambda: permutation_of(self._spark, held.factorization))

    @property
    def r(self) -> scipy.sparse.csr_array:
        """R, rank x n, upper trapezoidal: fetched anew on every access.

        SparqrError (InsufficientMemoryException) if R does not fit into half of the driver's heap.
        """
        held = self._held
        return self._call("sparqr: R", lambda: r_of(self._spark, held.factorization))

    @property
    def report(self) -> dict[str, Any]:
        """Record of the factorization, by the names of the JSON report."""
        held = self._held
        return self._call("sparqr: report", lambda: read(held.factorization.summary().toJson()))

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """The report as one page with pictures, as :meth:`LeastSquaresResult.to_html`.

        Parameters
        ----------
        path : str or path, optional
            Where to write it.

        Raises
        ------
        ValueError
            The factorization was made without ``profile=True``.
        """
        held = self._held
        jvm = self._spark._jvm
        return to_html(
            self._call("sparqr: page", lambda: page_of(jvm, held.factorization.summary())), path
        )

    def close(self) -> None:
        """Release R, Q and the rows; idempotent. They go with a session that is stopped, too."""
        held, self._kept = self._kept, None
        if held is not None and not is_stopped(self._spark):
            self._call("sparqr: close", held.close)

    def __reduce__(self) -> Any:
        """R and Q are in Spark's JVM."""
        raise TypeError(
            "a factorization cannot be pickled: R and Q lie in Spark's JVMs. f.save(folder) saves it; results of "
            "solve() can be pickled, and f.r and f.permutation"
        )

    def __repr__(self) -> str:
        if self._kept is None:
            return "Factorization(closed)"
        m, n = self.shape
        return f"Factorization(rows={m}, columns={n}, rank={self.rank})"
