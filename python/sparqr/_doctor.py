# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""What on the machines makes a solve fail or slow."""

from __future__ import annotations

import importlib
import json
import platform
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

from sparqr._calls import in_thread
from sparqr._display import html_table
from sparqr._jvm import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LEVELS = ("ok", "note", "warning", "error")
_OLDEST_PYTHON = (3, 10)
_NEWEST_PYTHON = (3, 14)
_HERE = "this Python"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    level : {"ok", "note", "warning", "error"}
        How it is.
    check : str
        What was looked at, in a word.
    where : str
        The process: ``"this Python"``, ``"driver"``, ``"executor 1 on host"``.
    message : str
        What was found.
    remedy : str
        The line that mends it; empty where nothing has to be mended.
    """

    level: str
    check: str
    where: str
    message: str
    remedy: str


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """Result of :func:`doctor`; its text form is for people.

    Attributes
    ----------
    findings : list of Finding
        This Python's first, then the driver's and the executors'.
    """

    findings: list[Finding]

    @property
    def worst(self) -> str:
        """The most serious level."""
        return max((f.level for f in self.findings), key=_LEVELS.index, default="ok")

    def to_dict(self) -> dict[str, Any]:
        """``worst`` and ``findings``, as ``sparqr doctor --json`` prints them."""
        return {"worst": self.worst, "findings": [vars(f).copy() for f in self.findings]}

    def __repr__(self) -> str:
        lines = []
        where = None
        for f in self.findings:
            if f.where != where:
                where = f.where
                lines.append(where)
            lines.append(f"  {f.level:<8}{f.check:<10}{f.message}")
            if f.remedy:
                lines.append(f"{'':20}-> {f.remedy}")
        counts = {level: sum(f.level == level for f in self.findings) for level in _LEVELS}
        lines.append(f"{counts['error']:,} error(s), {counts['warning']:,} warning(s)")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = sorted(self.findings, key=lambda f: -_LEVELS.index(f.level))
        return html_table(
            f"Sparqr's doctor: {self.worst}",
            ["level", "check", "where", "found", "to mend it"],
            [[f.level, f.check, f.where, f.message, f.remedy] for f in rows],
            total=len(rows),
        )


def doctor(spark: Optional[SparkSession] = None, *, problem: Optional[str] = None) -> Diagnosis:
    """Look for what would make a solve fail or slow: this Python, the driver, and every executor.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession, optional
        Default: the active session. Without one only this Python is looked at.
    problem : str, optional
        What a problem would need, too: ``"gen:SPEC"`` or rows x columns x nonzeros, ``"1000000x5000x20000000"``.

    Returns
    -------
    Diagnosis

    Raises
    ------
    ValueError
        A problem that is neither, or without a session.
    RuntimeError
        The session has no Sparqr: see :func:`sparqr.session`.

    Notes
    -----
    One job, with a task for each executor. Over Spark Connect there is no JVM to ask: run ``sparqr doctor`` on the
    server.

    Examples
    --------
    >>> sparqr.doctor()  # doctest: +SKIP
    """
    findings = [_python(sys.version_info[:3]), *_packages()]
    found = spark or _active()
    if found is None:
        if problem is not None:
            raise ValueError("a problem is looked at by a session's JVM: sparqr.doctor(sparqr.session(), problem=...)")
        findings.append(
            Finding("note", "session", _HERE, "no active session: only this Python was looked at", "sparqr.session()")
        )
        return Diagnosis(findings)
    session: Any = found
    if not hasattr(session, "_jvm"):
        text = "a client of Spark Connect: its server was not looked at"
        findings.append(Finding("note", "session", _HERE, text, "sparqr doctor, on the server"))
        return Diagnosis(findings)
    findings.append(_pyspark(session))
    findings.append(_workers(session))

    def work() -> str:
        java = java_class(session._jvm, "io.sparqr.spark.doctor.Doctor")
        return java.json(session.sparkContext._jsc, problem or "")

    try:
        answer = json.loads(in_thread(session, "sparqr.doctor", work))
    except Exception as e:
        if problem is not None and "problem" in str(e):
            raise ValueError(str(e)) from None
        raise
    findings.extend(Finding(**one) for one in answer["findings"])
    return Diagnosis(findings)


def _active() -> Optional[SparkSession]:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        return None
    return SparkSession.getActiveSession()


def _python(version: tuple[int, ...]) -> Finding:
    text = ".".join(map(str, version))
    if version[:2] < _OLDEST_PYTHON:
        return Finding("error", "python", _HERE, f"Python {text}, 3.10 or later is needed", "a newer Python")
    if version[:2] > _NEWEST_PYTHON:
        return Finding("warning", "python", _HERE, f"Python {text} was not tried", "Python 3.10 to 3.14")
    return Finding("ok", "python", _HERE, f"Python {text} ({platform.python_implementation()}, {sys.executable})", "")


def _packages() -> list[Finding]:
    there, missing = [], []
    for name in ("pyspark", "numpy", "scipy", "pandas", "pyarrow"):
        try:
            there.append(f"{name} {importlib.import_module(name).__version__}")
        except ImportError:
            missing.append(name)
    findings = [Finding("ok", "packages", _HERE, ", ".join(there) or "none of those that Sparqr uses", "")]
    if missing:
        remedy = f"pip install {' '.join(missing)}"
        level = "error" if "pyspark" in missing else "note"
        findings.append(Finding(level, "packages", _HERE, f"missing: {', '.join(missing)}", remedy))
    return findings


def _pyspark(session: Any) -> Finding:
    import pyspark

    mine, theirs = pyspark.__version__, session.version
    if mine.split(".")[:2] != theirs.split(".")[:2]:
        text = f"PySpark {mine} with a Spark {theirs}: calls fail in odd ways"
        return Finding("error", "pyspark", _HERE, text, f'pip install "pyspark=={theirs}"')
    return Finding("ok", "pyspark", _HERE, f"PySpark {mine}, Spark {theirs}", "")


def _workers(session: Any) -> Finding:
    """Whether functions in Python run on the workers, and under which version."""
    try:
        # by value, since the workers may have no sparqr
        ask = lambda _: __import__("platform").python_version()  # noqa: E731
        versions = in_thread(
            session,
            "sparqr.doctor: Python of the workers",
            lambda: session.sparkContext.parallelize([0], 1).map(ask).collect(),
        )
    except Exception as e:
        line = str(e)
        known = "PYTHON_VERSION_MISMATCH" in line
        first = next((s.strip() for s in line.splitlines() if s.strip()), type(e).__name__)
        text = "the workers have another Python than this one" if known else f"the workers run no Python: {first[:200]}"
        remedy = f"PYSPARK_PYTHON={sys.executable} before the session starts (the same path on all machines)"
        return Finding("error", "workers", _HERE, text, remedy)
    return Finding("ok", "workers", _HERE, f"Python {versions[0]} on the workers", "")
