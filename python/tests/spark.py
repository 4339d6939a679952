# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""PySpark for the tests: sessions with Sparqr's jar, and programs in processes of their own.

Tests whose requirements are missing are skipped; if $SPARQR_TEST_PYSPARK names a version of PySpark, as in
CI, they fail.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]

# The folder from which tests is imported; sparqr, too, unless the wheel is installed.
TOP = pathlib.Path(__file__).absolute().parents[1]

LINE = [(1.0, 1.0), (3.0, 2.0), (4.0, 3.0), (8.0, 4.0), (9.0, 5.0)]


def jar():
    """The users' jar, in the wheel or as built by Maven; $SPARQR_JAR takes precedence."""
    given = os.environ.get("SPARQR_JAR")
    if given:
        return pathlib.Path(given)
    # from its file: this is also called by programs that must work without importing sparqr
    package = pathlib.Path(importlib.util.find_spec("sparqr").origin).parent
    names = {}
    exec((package / "_version.py").read_text(), names)
    inside = package / "jars" / names["JAR"]
    return inside if inside.exists() else HOME / "distribution" / "target" / names["JAR"]


def _installed(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False


def require(*modules):
    """Skips the test, or fails it in CI, unless PySpark, these modules and the jar are available."""
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
    """A builder of small local sessions; java: further JVM options."""
    from pyspark.sql import SparkSession

    # the JVM would log to standard output, which belongs to the programs
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
        # short runs: fast compilation matters more than fast code
        "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {java}",
        "spark.log.level": "OFF",
        # Spark's status up to date at any time, not only after certain events
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
    """Test case with a session for the class, its own data and a folder."""

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
        """Rows of (label, features, ...), the features as lists of (index, value); their size is the largest
        index plus one.
        """
        from pyspark.ml.linalg import Vectors

        n = 1 + max(j for _, entries, *_ in rows for j, _ in entries)
        made = [(float(y), Vectors.sparse(n, entries), *rest) for y, entries, *rest in rows]
        names = ["label", "features", "w", "b2"][: len(rows[0])]
        return self.spark.createDataFrame(made, names)


def environment(path=TOP):
    """For a program: sparqr and the tests from a path, a quiet JVM."""
    # the program must not use the JVM that PySpark started in this process
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYSPARK_")}
    env["PYTHONPATH"] = os.pathsep.join(map(str, dict.fromkeys([path, TOP])))
    return env


def start(program, *args, path=TOP, **options):
    """Starts tests/programs/PROGRAM.py in a separate process and folder."""
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
    """The output of a program; AssertionError with all its output if it fails."""
    process = start(program, *args, path=path)
    try:
        out, err = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    if process.returncode != 0:
        raise AssertionError(f"{program} {args} ended with {process.returncode}:\n{out}\n{err}")
    return out
