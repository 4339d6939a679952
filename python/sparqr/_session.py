# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Spark sessions with Sparqr's jar, and the path of that jar."""

from __future__ import annotations

import logging
import os
import pathlib
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sparqr._errors import telling_errors
from sparqr._jvm import find_java_class
from sparqr._master import is_local, local_cores
from sparqr._pyspark import CLIENT_ONLY, is_client_only, require_pyspark
from sparqr._version import JAR

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RESTART = "restart Python first (in a notebook: the kernel)"

# Share of the machine's memory; the rest is for Python, native buffers and the system.
_SHARE = 0.5

# We need throughput rather than short pauses. Spark itself adds the module flags that it needs.
_JAVA_OPTIONS = "-XX:+UseParallelGC"

# Where the workers' Python is named; PySpark itself takes python3 of the path, which may be another one.
_WORKERS_PYTHON = "PYSPARK_PYTHON"

# They print the stack trace of each failed task, or of the call; in local mode the error that is raised says it in a
# line, and has the trace. Our warnings stay.
_TRACES = {
    "org.apache.spark.executor.Executor": "OFF",
    "org.apache.spark.scheduler.TaskSetManager": "OFF",
    "io.sparqr": "OFF",
    "io.sparqr.spark": "WARN",
}

# Settings where the caller's value is added to ours.
_JOINED = ("spark.jars", "spark.driver.extraJavaOptions")

_EXAMPLES = {"master": "local[*]", "memory": "8g"}


def jar() -> str:
    """Path of Sparqr's jar: for ``spark.jars``, ``spark-submit --jars`` or ``spark.addArtifacts``.

    Returns
    -------
    str
        The jar in the installed package; in a source tree the jar built by Maven.

    Raises
    ------
    FileNotFoundError
        The jar is missing: the package was not installed from a wheel, and Maven has not run.
    """
    package = pathlib.Path(__file__).resolve().parent
    inside = package / "jars" / JAR
    if inside.is_file():
        return str(inside)
    tree = package.parents[1]
    if not (tree / "distribution" / "pom.xml").is_file():
        raise FileNotFoundError(f"{inside} is missing: install sparqr from a wheel, which has it")
    made = tree / "distribution" / "target" / JAR
    if not made.is_file():
        raise FileNotFoundError(f"{made} is not built yet: run ./mvnw -DskipTests package in {tree}")
    return str(made)


def session(master: str | None = None, memory: str | None = None, **conf: Any) -> SparkSession:
    """A Spark session with Sparqr's jar: a new one, or the active one.

    A new session has no progress bars of Spark's own; in local mode tables are shuffled into as many partitions as
    there are cores, tasks run this Python, unless ``PYSPARK_PYTHON`` names another, and a failed task prints no Java
    trace beside the error.

    Parameters
    ----------
    master : str, optional
        Spark's master. Default ``"local[*]"``: this machine, on all cores.
    memory : str, optional
        Heap of the driver, which does all the work in local mode, in Spark's notation: ``"8g"``.
        Default: half of the memory of this machine (or container).
    **conf
        Further Spark settings, such as ``spark_ui_enabled=False`` or ``**{"spark.ui.enabled": False}``: an
        underscore stands for a dot. Jars and JVM options are added to Sparqr's own.

    Returns
    -------
    pyspark.sql.SparkSession

    Raises
    ------
    RuntimeError
        Spark already runs without the jar, and it is too late to add one; or this Python uses Spark Connect,
        so that Spark runs elsewhere.
    ImportError
        PySpark is missing, or too old.
    FileNotFoundError
        The jar is missing: see :func:`jar`.
    TypeError, ValueError
        An invalid memory, a setting unknown to Spark.

    Warns
    -----
    UserWarning
        Spark already runs, and some requested setting can no longer be changed.
    """
    settings = _settings(master, memory, conf)
    require_pyspark()
    _require_no_remote()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with telling_errors():
        if SparkContext._gateway is not None and not _has_jar():
            raise RuntimeError(
                "Spark's JVM runs already, without Sparqr's jar, and takes none any more: "
                f"{_RESTART}, and call sparqr.session() before any other session is made, or make "
                'that one with .config("spark.jars", sparqr.jar())'
            )
        if SparkContext._active_spark_context is not None:
            made = SparkSession.builder.getOrCreate()
            fixed = _change(made, settings)
        else:
            fixed = _fixed_by_jvm(settings)
            ours = _with_ours(settings)
            with _this_python(ours):
                made = _start(ours)
            _quiet(made, settings)
    if fixed:
        warnings.warn(
            f"Spark runs already, and this stays as it is: {'; '.join(fixed)}. To change it, {_RESTART}",
            stacklevel=2,
        )
    return made


def _settings(master: str | None, memory: str | None, conf: dict[str, Any]) -> dict[str, str]:
    """The caller's settings, by Spark's names."""
    settings = {}
    for key, value in conf.items():
        name = key if "." in key else key.replace("_", ".")
        if not name.startswith("spark."):
            raise ValueError(f"{key!r} is not a setting of Spark: these begin with spark.")
        if value is None:
            raise ValueError(f"{key} is None: leave it out for Spark's default")
        settings[name] = str(value).lower() if isinstance(value, bool) else str(value)
    for name, given in (("spark.master", master), ("spark.driver.memory", memory)):
        if given is None:
            continue
        if not isinstance(given, str):
            what = name.rpartition(".")[2]
            raise TypeError(f"{what} is {given!r}, not a string such as {_EXAMPLES[what]!r}")
        settings[name] = given
    return settings


def _with_ours(settings: dict[str, str]) -> dict[str, str]:
    """These settings with the jar and our defaults added."""
    jars = [jar(), *filter(None, settings.get("spark.jars", "").split(","))]
    java = settings.get("spark.driver.extraJavaOptions", "")
    if not re.search(r"-XX:\+Use\w+GC\b", java):  # a JVM accepts only one garbage collector
        java = f"{_JAVA_OPTIONS} {java}".strip()
    cores = local_cores(settings.get("spark.master", "local[*]"))
    # Spark's default of 200 costs small tables seconds
    local = {} if cores is None else {"spark.sql.shuffle.partitions": str(cores)}
    return {
        "spark.master": "local[*]",
        "spark.app.name": "sparqr",
        "spark.driver.memory": f"{int(_machine_memory() * _SHARE) >> 20}m",
        "spark.ui.showConsoleProgress": "false",
        **local,
        **settings,
        "spark.driver.extraJavaOptions": java,
        "spark.jars": ",".join(jars),
    }


@contextmanager
def _this_python(settings: dict[str, str]) -> Iterator[None]:
    """Names this Python for the workers while a local session starts, unless the user names one. The workers of a
    cluster have their own, which need not lie in the same place."""
    asked = _WORKERS_PYTHON in os.environ or "spark.pyspark.python" in settings
    if asked or not sys.executable or not is_local(settings["spark.master"]):
        yield
        return
    os.environ[_WORKERS_PYTHON] = sys.executable
    try:
        yield
    finally:
        del os.environ[_WORKERS_PYTHON]


def _quiet(spark: SparkSession, settings: dict[str, str]) -> None:
    """No stack traces beside an error of one line: in Py4J's log, which repeats what is raised, and in that of a local
    Spark, where no level was asked for."""
    py4j = logging.getLogger("py4j")
    if py4j.level == logging.NOTSET:
        py4j.setLevel(logging.CRITICAL)
    if not is_local(spark.sparkContext.master) or "spark.log.level" in settings:
        return
    from pyspark.logger import PySparkLogger

    for of in ("SQL", "DataFrame"):  # the error that is raised, once more, as JSON
        PySparkLogger.getLogger(f"{of}QueryContextLogger").setLevel("CRITICAL")
    log4j: Any = spark._jvm
    levels = log4j.org.apache.logging.log4j.Level
    for logger, level in _TRACES.items():
        log4j.org.apache.logging.log4j.core.config.Configurator.setLevel(logger, levels.toLevel(level))


def _machine_memory() -> int:
    """Bytes available to this process: the machine's memory, or the container's limit if lower."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for limit in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            found.append(int(pathlib.Path("/sys/fs/cgroup", limit).read_text()))
        except (OSError, ValueError):
            pass  # no such file, or "max"
    return min(found)


def _require_no_remote() -> None:
    from pyspark.sql.utils import is_remote

    if is_client_only():
        raise RuntimeError(CLIENT_ONLY)
    if is_remote():
        raise RuntimeError(
            "this Python is a client of Spark Connect, and sparqr.session starts a Spark of its own: use "
            "your remote session, or unset SPARK_REMOTE, SPARK_CONNECT_MODE_ENABLED and spark.api.mode"
        )


def _has_jar() -> bool:
    from pyspark import SparkContext

    return find_java_class(SparkContext._jvm, "io.sparqr.spark.GpuSparseQR") is not None


def _start(settings: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _change(spark: SparkSession, settings: dict[str, str]) -> list[str]:
    """Applies the settings that can change in a running session; returns descriptions of the others."""
    fixed = []
    for name, value in settings.items():
        if spark.conf.isModifiable(name):
            spark.conf.set(name, value)
            continue
        now = spark.sparkContext.getConf().get(name)
        if name in _JOINED:
            if value not in (now or ""):
                fixed.append(f"{name} lacks {value}")
        elif now != value:
            fixed.append(f"{name} is {'not set' if now is None else now}, not {value}")
    return fixed


def _fixed_by_jvm(settings: dict[str, str]) -> list[str]:
    """Descriptions of the settings that a JVM cannot take over, because it has outlived its session."""
    from pyspark import SparkContext

    if SparkContext._gateway is None:
        return []
    jvm: Any = SparkContext._jvm
    heap = jvm.java.lang.Runtime.getRuntime().maxMemory() >> 20
    now = {
        "spark.driver.memory": f"that of the JVM (a heap of {heap:,} MB)",
        "spark.driver.extraJavaOptions": "what the JVM was started with",
    }
    return [f"{name} is {now[name]}, not {settings[name]}" for name in now if name in settings]
