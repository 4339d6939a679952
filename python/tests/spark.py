# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""PySpark for the tests: sessions with Sparqr's jar, and programs in processes of their own.

Tests that need what is not there are skipped, but where $SPARQR_TEST_PYSPARK names a version of PySpark
they fail: CI sets it.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]

# The folder that tests is imported from; sparqr, too, unless the wheel is installed.
TOP = pathlib.Path(__file__).absolute().parents[1]

LINE = [(1.0, 1.0), (3.0, 2.0), (4.0, 3.0), (8.0, 4.0), (9.0, 5.0)]


def jar():
    """The jar that users get, in the wheel or as Maven builds it; $SPARQR_JAR overrules."""
    given = os.environ.get("SPARQR_JAR")
    if given:
        return pathlib.Path(given)
    # by its file: the programs that must work without an import of sparqr come here, too
    package = pathlib.Path(importlib.util.find_spec("sparqr").origin).parent
    names = {}
    exec((package / "_version.py").read_text(), names)
    inside = package / "jars" / names["JAR"]
    return inside if inside.exists() else HOME / "spark-connector" / "target" / names["JAR"]


def _installed(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it would be in
        return False


def require(*modules):
    """Skips the test, or fails it in CI, unless PySpark, these modules and the jar are there."""
    wanted = os.environ.get("SPARQR_TEST_PYSPARK")
    missing = [m for m in ("pyspark", *modules) if not _installed(m)]
    why = f"not installed: {', '.join(missing)}" if missing else ""
    if not why and not jar().exists():
        why = f"{jar().name} is not built (./mvnw -DskipTests package)"
    if why and wanted:
        raise AssertionError(f"PySpark {wanted} and all else must be here: {why}")
    if why:
        raise unittest.SkipTest(why)
    if wanted:
        import pyspark

        if pyspark.__version__ != wanted:
            raise AssertionError(f"PySpark {pyspark.__version__} is here, not {wanted}")


def builder(with_jar=True, memory="1g", java=""):
    """A builder of small local sessions; java are further options of the JVM."""
    from pyspark.sql import SparkSession

    # what the JVM says of itself, it says on standard output, which is the programs' own
    java = f"-Xlog:disable -Xlog:all=warning:stderr {java}"
    archive = os.environ.get("SPARQR_TEST_ARCHIVE")
    if archive and os.path.exists(archive):
        java += f" -XX:SharedArchiveFile={archive}"

    made = SparkSession.builder.master("local[2]").config("spark.driver.memory", memory)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.default.parallelism": "1",
        "spark.sql.shuffle.partitions": "1",
        # short runs: compiled quickly, not well
        "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {java}",
        "spark.log.level": "OFF",
        # Spark's books at any time, not as of some event ago
        "spark.ui.liveUpdate.period": "0",
        **({"spark.jars": str(jar())} if with_jar else {}),
    }
    for name, value in settings.items():
        made = made.config(name, value)
    return made


def line(spark):
    """Five points with the line 2.1 t - 1.3, or 96/55 t."""
    from pyspark.ml.linalg import Vectors

    return spark.createDataFrame([(y, Vectors.dense(t)) for y, t in LINE], ["label", "features"])


class SparkTest(unittest.TestCase):
    """A session for the class, data of its own and a folder."""

    @classmethod
    def setUpClass(cls):
        require()
        from pyspark.logger import PySparkLogger

        for of in ("SQL", "DataFrame"):
            PySparkLogger.getLogger(f"{of}QueryContextLogger").setLevel("CRITICAL")
        cls.spark = builder().getOrCreate()
        cls.data = line(cls.spark)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addClassCleanup(cls.spark.stop)

    def path(self, name):
        return str(pathlib.Path(self.folder.name) / name)

    def frame(self, rows):
        """Rows of (label, features, ...), the features as lists of (index, value), by their greatest."""
        from pyspark.ml.linalg import Vectors

        n = 1 + max(j for _, entries, *_ in rows for j, _ in entries)
        made = [(float(y), Vectors.sparse(n, entries), *rest) for y, entries, *rest in rows]
        names = ["label", "features", "w", "b2"][: len(rows[0])]
        return self.spark.createDataFrame(made, names)


def environment(path=TOP):
    """For a program: sparqr and the tests from a path, the JVM quiet."""
    # PySpark's own JVM in this process must not be taken for the program's
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYSPARK_")}
    env["PYTHONPATH"] = os.pathsep.join(map(str, dict.fromkeys([path, TOP])))
    return env


def start(program, *args, path=TOP, **options):
    """Starts tests/programs/PROGRAM.py in a process and a folder of its own."""
    folder = tempfile.mkdtemp()
    command = [sys.executable, "-W", "ignore", "-m", f"tests.programs.{program}", *map(str, args)]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment(path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        **options,
    )


def run(program, *args, path=TOP):
    """What a program prints; AssertionError with all it said if it fails."""
    process = start(program, *args, path=path)
    try:
        out, err = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    if process.returncode != 0:
        raise AssertionError(f"{program} {args} ended with {process.returncode}:\n{out}\n{err}")
    return out
