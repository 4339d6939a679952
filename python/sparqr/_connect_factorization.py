# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A factorization that a server of Spark Connect keeps, as a model of Spark ML."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Callable

from sparqr import _connect, _connect_arrays
from sparqr._arrays import right_hand_sides
from sparqr._errors import SparqrError
from sparqr._explicit_q import QTransposed
from sparqr._factored import NO_ROWS, Held, Keeps
from sparqr._factorization import Factorization, require_b_as_before, with_errors
from sparqr._lstsq import LstsqResult, answered, factor_of
from sparqr._predictions import Predictions, new_rows, predicted
from sparqr._report import read, to_html
from sparqr._rows import Problem, problem_of

if TYPE_CHECKING:
    import numpy
    import scipy.sparse

_STAGE = "io.sparqr.spark.connect.FactorizeArrays"

_GONE = (
    "the server of Spark Connect has let this factorization go, as one from 4.1 on does with what was not asked for in "
    "15 minutes, or when it is short of memory: factorize again; before the first fit of a session, "
    "spark.connect.session.connectML.mlCache.memoryControl.offloadingTimeout sets the minutes"
)


def factorize(session: Any, problem: Problem, settings: dict[str, Any], keep_q: bool) -> Factorization:
    """A factorization on the server.

    Parameters
    ----------
    session : pyspark.sql.connect.session.SparkSession
        The session.
    problem : Problem
        A, b and the weights, as arrays.
    settings : dict
        Options by their names in Java.
    keep_q : bool
        Whether Q is kept.
    """
    made = ConnectFactorization(session, settings, Keeps(keep_q, False))
    words: dict[str, Any] = {"partitions": settings.get("partitions", 0), "keepQ": keep_q}
    params = {"options": _connect.option_words(settings), "words": _connect.option_words(words)}

    def work() -> str:
        sent = session.createDataFrame(_connect_arrays.pieces({"A": problem}))
        return _connect.fit(_STAGE, params, sent, session)

    made._kept = _Remote.of(session, made._call("sparqr.factorize", work), problem)
    return made


def load(session: Any, folder: str | PathLike[str]) -> Factorization:
    """A saved factorization, on the server.

    Parameters
    ----------
    session : pyspark.sql.connect.session.SparkSession
        The session.
    folder : str or path
        As the server sees it.
    """
    made = ConnectFactorization(session, None, Keeps(False, False))
    params = {"words": _connect.option_words({"load": os.fspath(folder)})}
    model = made._call("sparqr.load", lambda: _connect.fit(_STAGE, params, session.range(0), session))
    held = _Remote(None, model, None, None, (0, 0), False, True, session)
    told = made._call("sparqr.load", lambda: held.ask("state"))
    if "missing" in told:
        _connect.forget(session, model)
        raise FileNotFoundError(told["missing"])
    report = read(told["report"])
    held.shape, held.rhs = (report["rows"], report["columns"]), report["rhs"]
    held.several = held.rhs > 1
    made._kept = held
    return made


@dataclass
class _Remote(Held):
    """A factorization on the server: the server's name of its model, and its number there."""

    session: Any = None
    rhs: int = 0
    number: int = 0
    # of the model's factorizations that are open: it is deleted with the last one
    open: set[int] = field(default_factory=lambda: {0})

    @staticmethod
    def of(session: Any, model: str, problem: Problem) -> _Remote:
        matrix, b = problem.arrays()
        rhs = 0 if b is None else b.shape[1]
        return _Remote(None, model, problem, None, matrix.shape, problem.several, b is not None, session, rhs)

    def aligned(self) -> Any:
        """The rows are on the server; ValueError if not, either."""
        if self.problem is None:
            raise ValueError(NO_ROWS)

    def appended(self, told: dict[str, Any], rows: int) -> _Remote:
        """That of the rows of this one and others, by the server's answer."""
        number, shape = int(told["number"]), (self.shape[0] + rows, int(told["columns"]))
        self.open.add(number)
        return replace(self, problem=None, shape=shape, number=number)

    def ask(self, work: str, table: Any = None, **words: Any) -> dict[str, Any]:
        """The server's answer.

        Parameters
        ----------
        work : str
            What is asked for, in the words of Java's ``FactorizedArrays``.
        table : pyarrow.Table, optional
            The pieces that go with it.
        **words
            What else is wanted.
        """
        params = {"work": work, "words": _connect.option_words({"of": self.number, **words})}
        rows = self.session.range(0) if table is None else self.session.createDataFrame(table)
        return _connect.parcels(_connect.table(self.factorization, params, rows, self.session, model=self))

    def close(self) -> None:
        self.open.discard(self.number)
        try:
            self.ask("close")
        finally:
            if not self.open:
                _connect.forget(self.session, self.factorization)


class ConnectFactorization(Factorization):
    """:class:`Factorization` on a server of Spark Connect."""

    @property
    def _remote(self) -> Any:
        return self._held

    def _call(self, what: str, work: Callable[[], Any]) -> Any:
        try:
            return super()._call(what, work)
        except SparqrError as e:
            if e.kind == "ModelLost" or "has let this factorization go" in str(e):
                raise SparqrError(_GONE, "ModelLost") from None
            raise

    def _shown(self, what: str, work: Callable[[], Any]) -> Any:
        # progress is the client's own
        return self._call(what, work)

    def solve(self, b: Any = None, *, standard_errors: bool = False) -> LstsqResult:
        """As :meth:`Factorization.solve`."""
        held = self._remote
        if b is None:
            held.require_b()
            return self._solution("solve", None, held.several, standard_errors)
        held.aligned()
        sides, several = right_hand_sides(b, self.shape[0])
        return self._solution("further", _connect_arrays.labels(sides), several, standard_errors)

    def solve_relabeled(self, A: Any, b: Any, *, weights: Any = None, standard_errors: bool = False) -> LstsqResult:
        """As :meth:`Factorization.solve_relabeled`."""
        self._remote
        problem = problem_of(A, b, weights)
        _connect_arrays.require_arrays(problem)
        return self._solution("relabeled", _connect_arrays.pieces({"A": problem}), problem.several, standard_errors)

    def _solution(self, work: str, table: Any, several: bool, errors: bool) -> LstsqResult:
        held = self._remote
        told = self._call("sparqr: solve", lambda: held.ask(work, table, standardErrors=bool(errors)))
        result = answered(told, several, held.problem and held.problem.names)
        return with_errors(result, told["unscaled"], several) if errors else result

    def close(self) -> None:
        """Release R, Q and the rows; idempotent."""
        try:
            super().close()
        except SparqrError as e:
            # what the server has let go is released
            if e.kind != "ModelLost":
                raise

    def append(self, A: Any, b: Any = None, *, weights: Any = None) -> Factorization:
        """As :meth:`Factorization.append`."""
        held = self._remote
        problem = problem_of(A, b, weights)
        _connect_arrays.require_arrays(problem)
        require_b_as_before(problem.b is not None, held.with_b)
        made = ConnectFactorization(self._spark, None, Keeps(False, False))
        pieces = _connect_arrays.pieces({"A": problem})
        told = self._call("sparqr: append", lambda: held.ask("append", pieces))
        made._kept = held.appended(told, problem.arrays()[0].shape[0])
        return made

    def _renew(self, problem: Problem) -> None:
        _connect_arrays.require_arrays(problem)
        held = self._remote
        # the options as factorize sent them stay with the server
        self._call("sparqr: refit", lambda: held.ask("refit", _connect_arrays.pieces({"A": problem})))
        made = _Remote.of(self._spark, held.factorization, problem)
        self._kept = replace(made, number=held.number, open=held.open)

    def _predicted(self, A: Any, weights: Any) -> Predictions:
        held = self._remote
        new = new_rows(A, weights, self.shape[1])
        told = held.ask("predict", _connect_arrays.pieces({"new": new}))["predictions"]
        return predicted(told, held.rhs, held.several, self.report["rows"] - self.rank)

    def _transposed(self, y: numpy.ndarray, several: bool) -> QTransposed:
        import numpy

        told = self._remote.ask("qTransposed", _connect_arrays.labels(y))
        rest = told["rest"]
        values = numpy.column_stack([told[f"values{k}"] for k in range(len(rest))])
        return QTransposed(values, rest) if several else QTransposed(values[:, 0], float(rest[0]))

    def _applied(self, c: numpy.ndarray, several: bool) -> numpy.ndarray:
        found = self._remote.ask("applyQ", _connect_arrays.labels(c))["rows"].reshape(-1, c.shape[1])
        return found if several else found[:, 0]

    def _columns(self, asked: list[int]) -> numpy.ndarray:
        return self._remote.ask("q", columns=",".join(map(str, asked)))["rows"].reshape(-1, len(asked))

    def _criteria(self, probes: int) -> str:
        return self._remote.ask("criteria", probes=probes)["criteria"]

    def _leverages(self) -> list[numpy.ndarray]:
        return [self._remote.ask("leverages")["leverages"]]

    def _saved(self, folder: str | PathLike[str], overwrite: bool) -> None:
        told = self._remote.ask("save", folder=os.fspath(folder), overwrite=overwrite)
        if "exists" in told:
            raise FileExistsError(told["exists"])

    def standard_errors_unscaled(self) -> numpy.ndarray:
        """As :meth:`Factorization.standard_errors_unscaled`."""
        held = self._remote
        return self._call("sparqr: errors", lambda: held.ask("unscaled")["unscaled"])

    @property
    def _state(self) -> dict[str, Any]:
        """Rank, order of the columns, report."""
        held = self._remote
        return self._call("sparqr: state", lambda: held.ask("state"))

    @property
    def rank(self) -> int:
        """Numerical rank of A."""
        return int(self._state["rank"])

    @property
    def dead_columns(self) -> list[int]:
        """Columns that depend on others, ascending."""
        return self._state["dead"].astype(int).tolist()

    @property
    def permutation(self) -> numpy.ndarray:
        """Column order P, shape (n,): ``A[:, permutation]`` has the columns of R."""
        return self._state["permutation"].astype("int32")

    @property
    def r(self) -> scipy.sparse.csr_array:
        """R, rank x n, upper trapezoidal: fetched anew on every access."""
        held = self._remote
        told = self._call("sparqr: R", lambda: held.ask("r"))
        return factor_of(told, self.shape[1])

    @property
    def report(self) -> dict[str, Any]:
        """Record of the factorization, by the names of the JSON report."""
        return read(self._state["report"])

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """As :meth:`Factorization.to_html`."""
        return to_html(self._state["page"], path)
