# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Spark Connect: a client and a server in separate processes, with and without the jar."""

import importlib.util
import json
import math
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from tests import spark as with_spark
from tests.spark import SparkTest


CLIENT = os.environ.get("SPARQR_TEST_CLIENT")


class Server:
    """A Spark Connect server on a free port."""

    def __init__(self, folder, with_jar):
        import pyspark

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = pathlib.Path(folder) / "server.log"
        home = pathlib.Path(pyspark.__file__).parent
        java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        archive = os.environ.get("SPARQR_TEST_ARCHIVE")
        if archive and os.path.exists(archive):
            java += f" -XX:SharedArchiveFile={archive}"
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.connect.grpc.binding.port": self.port,
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.default.parallelism": "1",
            "spark.sql.shuffle.partitions": "1",
            "spark.driver.extraJavaOptions": java,
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
        }
        command = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", "1g"]
        command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
        for name, value in settings.items():
            command += ["--conf", f"{name}={value}"]
        command += ["--jars", str(with_spark.jar())] if with_jar else []
        env = {**with_spark.environment(), "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, "spark-internal"],
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait(self):
        """Waits until the server listens."""
        until = time.monotonic() + 120
        while time.monotonic() < until and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError(f"no server of Spark Connect:\n{self.log.read_text()[-5000:]}")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def said(url_port, folder, add):
    """The client's results, by name. Its PySpark is what on_pyspark.sh names, pyspark-client alone, or else this one."""
    url = f"sc://127.0.0.1:{url_port}"
    path = CLIENT or with_spark.TOP
    out = with_spark.run("connect", url, folder, "add" if add else "there", path=path)
    return {one["name"]: one["found"] for one in map(json.loads, out.splitlines())}


class ConnectTest(SparkTest):
    """Compares with a classic session."""

    @classmethod
    def setUpClass(cls):
        with_spark.require("grpc", "grpc_status", "google.rpc", "zstandard", "pandas", "pyarrow")
        own = tempfile.TemporaryDirectory()
        cls.addClassCleanup(own.cleanup)
        cls.addClassCleanup(cls.doServerStop)
        cls.server = Server(own.name, with_jar=cls.WITH_JAR)
        super().setUpClass()
        cls.server.wait()
        cls.saved = str(pathlib.Path(own.name) / "saved")
        cls.found = said(cls.server.port, cls.saved, add=not cls.WITH_JAR)

    @classmethod
    def doServerStop(cls):
        if hasattr(cls, "server"):
            cls.server.stop()

    def test_the_client_is_the_one_to_test(self):
        folder, is_alone = self.found["client"]
        expected = CLIENT or str(pathlib.Path(importlib.util.find_spec("pyspark").origin).parents[1])
        self.assertEqual((folder, is_alone), (expected, bool(CLIENT)))

    def test_a_client_without_a_session_is_told_what_to_do(self):
        self.assertEqual("alone session" in self.found, bool(CLIENT))
        for name in ("session", "lstsq", "feols", "estimator", "load") if CLIENT else ():
            kind, _, message = self.found[f"alone {name}"]
            self.assertEqual(kind, "RuntimeError", message)
            self.assertIn('SparkSession.builder.remote("sc://host:15002").getOrCreate()', message)
            self.assertNotIn("\n", message)

    def test_matrices_to_the_digits_of_a_classic_session(self):
        from tests.programs import connect

        self.maxDiff = 2000
        for name, expected in json.loads(json.dumps(connect.matrices(self.spark))).items():
            # NaN is no number to be equal to
            self.assertEqual(str(self.found["matrices"][name]), str(expected), name)
        self.assertEqual(self.found["matrices"]["large"]["report"]["rows"], 30_000)
        self.assertEqual(self.found["matrices"]["all"]["page"], "<!DOCTYPE html>")

    def test_frames_of_matrices_as_in_a_classic_session(self):
        from tests.programs import connect

        expected = json.loads(json.dumps(connect.frames(self.spark)))
        found = self.found["frames"]
        for name in ("columns", "rows", "bare", "parts"):
            self.assertEqual(found[name], expected[name], name)
        self.assertEqual(found["parts"], 7)
        for name in ("solved", "solved large"):
            self.check_same(found[name], expected[name], name)

    def test_factorizations_to_the_digits_of_a_classic_session(self):
        from tests.programs import connect

        self.maxDiff = 2000
        for name, expected in json.loads(json.dumps(connect.factorizations(self.spark, self.folder.name))).items():
            self.assertEqual(str(self.found["factorizations"][name]), str(expected), name)
        self.assertEqual(self.found["factorizations"]["shape"][:3], [[60, 12], 12, []])
        self.assertEqual(self.found["factorizations"]["deficient"][1:3], [12, [12, 13]])

    def test_a_factorization_saved_over_connect_is_loaded_here(self):
        import sparqr

        with sparqr.load(f"{self.saved}/factored") as f:
            self.assertEqual(f.solve().x.tolist(), self.found["factorizations"]["solve"]["x"])

    def test_errors_of_factorizations_are_told_in_a_line(self):
        for name, kind, pattern in (
            ("factored solve none", "ValueError", "^no b came with A"),
            ("factored solve rows", "ValueError", "b has 59 rows, A has 60"),
            ("factored append", "ValueError", "^the new rows have a b, A had none$"),
            ("factored append file", "ValueError", "of which the server of Spark Connect sees nothing"),
            ("factored refit", "ValueError", "the new A is 50 x 12, this one 60 x 12"),
            ("factored predict", "ValueError", "no b came with A"),
            ("factored there", "FileExistsError", "factored"),
            ("factored load", "FileNotFoundError", "/nowhere: no saved factorization$"),
            ("appended solve", "ValueError", "^this factorization has no rows to align numbers with"),
            ("appended leverages", "ValueError", "^this factorization has no rows to align numbers with"),
            ("appended refit", "ValueError", "^refit is of factorizations by sparqr.factorize"),
            ("appended closed", "ValueError", "^this factorization is closed$"),
            ("factored pickle", "TypeError", "cannot be pickled"),
            ("factored closed", "ValueError", "^this factorization is closed$"),
            ("factored closed rank", "ValueError", "^this factorization is closed$"),
            ("factorize file", "ValueError", "of which the server of Spark Connect sees nothing"),
        ):
            found, _, message = self.found[name]
            self.assertEqual(found, kind, message)
            self.assertRegex(message, pattern)
            self.assertNotIn("\n", message)
        self.check_error("factored solve NaN", "NonFiniteValueException", r"^row 0, column 0 of b|^b\[0\] is inf$")
        self.check_error("factored no Q", "IllegalStateException", "keepQ")
        self.check_error("factored append columns", "DimensionMismatchException", "3")
        damaged = ("WireFormatException", "bytes where .* were saved$") if self.WITH_JAR else ("TaskFailedException", "in Spark's log")
        self.check_error("factored damaged", *damaged)
        self.check_error("appended no Q", "IllegalStateException", "Q")
        self.check_error("appended gone", "ModelLost", "^the server of Spark Connect has let this factorization go")
        self.assertEqual(self.found["appended orphan"], [12, [120, 12]])
        self.check_error("factored relabeled", "IllegalArgumentException", "another matrix")
        self.check_error("factorize NaN", "NonFiniteValueException", r"^b\[0\] is nan$")
        self.check_error("factorize ridge", "IllegalArgumentException", "-1")
        gone = "^the server of Spark Connect has let this factorization go, .* factorize again"
        for name in ("factored evicted", "factored lost"):
            if name in self.found:
                self.check_error(name, "ModelLost", gone)
        self.assertEqual("factored evicted" in self.found, not self.spark.version.startswith("4.0"))
        self.assertIsNone(self.found["factored lost close"])
        # by the corrected semi-normal equations
        self.assertAlmostEqual(self.found["factored after"], self.found["matrices"]["plain"]["x"][0], delta=1e-12)

    def test_errors_of_matrices_are_told_in_a_line(self):
        self.check_error("lstsq NaN", "NonFiniteValueException", r"^b\[0\] is nan$")
        self.check_error("lstsq rank", "RankDeficientException", "12")
        self.check_error("lstsq ridge", "IllegalArgumentException", "-1")
        for name, pattern in (
            ("lstsq file", r"of which the server of Spark Connect sees nothing: read it here, by scipy\.io\.mmread"),
            ("analyze file", r"of which the server of Spark Connect sees nothing"),
            ("lstsq columns", "the new rows have 1 columns, A has 12"),
            ("lstsq large", r"over Spark Connect at most .* GB are sent: put them where the server reads"),
        ):
            kind, _, message = self.found[name]
            self.assertEqual(kind, "ValueError", message)
            self.assertRegex(message, pattern)
            self.assertNotIn("\n", message)
        kind, _, message = self.found["qr"]
        self.assertEqual(kind, "RuntimeError", message)
        self.assertIn("Over Spark Connect work sparqr.solve, lstsq", message)

    def test_a_model_that_left_memory_predicts_as_before(self):
        self.assertIs(self.found["evicted"], True)
        self.assertEqual(len(self.found["evicted coefficients"]), 1)

    def test_lost_pieces_are_noticed(self):
        pieces = self.found["pieces"]
        self.assertGreater(pieces, 7)
        for work in ("solve", "table"):
            self.check_error(f"lost last {work}", "WireFormatException", f"^{pieces - 1} of {pieces} pieces of A have come$")
            self.check_error(f"lost middle {work}", "WireFormatException", "^piece 2 of A where 1 should be$")

    def check_same(self, found, expected, what=""):
        """Equal, numbers up to rounding; random uids are ignored."""
        if isinstance(expected, dict):
            self.assertEqual(set(found), set(expected), what)
            for name in expected:
                self.check_same(found[name], expected[name], f"{what} {name}")
        elif isinstance(expected, (list, tuple)):
            self.assertEqual(len(found), len(expected), what)
            for k, one in enumerate(expected):
                self.check_same(found[k], one, f"{what} [{k}]")
        elif isinstance(expected, float) and not math.isnan(expected):
            self.assertIsInstance(found, float, what)
            self.assertAlmostEqual(found, expected, delta=1e-12 * (1 + abs(expected)), msg=what)
        elif isinstance(expected, float):
            self.assertTrue(math.isnan(found), what)
        else:
            self.assertEqual(found, expected, what)

    def check_error(self, name, kind, pattern):
        type_name, found, message = self.found[name]
        self.assertEqual((type_name, found), ("SparqrError", kind), self.found[name])
        self.assertRegex(message, pattern)
        self.assertNotIn("\n", message)


class ArtifactTest(ConnectTest):
    """The server lacks the jar: the session adds it."""

    WITH_JAR = False

    def test_a_missing_jar_is_told(self):
        for name in ("no jar solve", "no jar fit", "no jar load"):
            kind, _, message = self.found[name]
            self.assertEqual(kind, "RuntimeError", self.found[name])
            self.assertRegex(message, r"^Sparqr's jar is missing on the server of Spark Connect: .*addArtifacts\(")
            self.assertNotIn("\n", message)

    def test_solve_as_in_a_classic_session(self):
        from tests.programs import connect

        self.check_same(self.found["solved"], connect.all_solved(self.spark))
        self.assertAlmostEqual(self.found["solved"][0][0][0], 96 / 55, places=13)

    def test_all_statistics_as_in_a_classic_session(self):
        from tests.programs import connect

        self.check_same(self.found["statistics"], connect.all_statistics(self.spark))
        self.assertAlmostEqual(self.found["statistics"]["line"]["coefficients"][0], 2.1, places=13)

    def test_feols_as_in_a_classic_session(self):
        from tests.programs import connect

        expected = connect.regressions(self.spark)
        self.assertEqual(expected["two"]["numbers"][0], 30)
        self.check_same(self.found["regressions"], json.loads(json.dumps(expected)))
        for name, message in (
            ("feols column", "no column salary; there are worker, firm, age, wage"),
            ("feols formula", "where an operator or the end should stand"),
            ("feols level", "reference level of firm"),
        ):
            kind, _, found = self.found[name]
            self.assertEqual(kind, "ValueError", found)
            self.assertIn(message, found)

    def test_a_page(self):
        self.assertEqual(self.found["page"], "<!DOCTYPE html>")

    def test_errors_are_told_in_a_line(self):
        self.check_error("solve NaN", "NonFiniteValueException", "is NaN")
        self.check_error("fit NaN", "NonFiniteValueException", "is NaN")
        self.check_error("solve ridge", "IllegalArgumentException", "-1")
        self.assertRegex(self.found["fit ordering"][2], "ordering .*metis")
        self.assertRegex(self.found["solve column"][2], "salary")


class ServersJarTest(ConnectTest):
    """The server was started with the jar."""

    WITH_JAR = True

    def test_solve_and_fit(self):
        from tests.programs import connect

        self.check_same(self.found["solved"], connect.all_solved(self.spark))
        from sparqr.ml import SparseQRRegression

        self.check_same(self.found["line"], connect.statistics(SparseQRRegression().fit(self.data)))

    def test_transform_save_and_load(self):
        for name in ("transformed", "loaded transformed"):
            self.assertEqual(len(self.found[name]), 5)
        self.assertEqual(self.found["transformed"], self.found["loaded transformed"])
        self.assertEqual(self.found["loaded"], [True, False, "y ~ x + g"])
        self.assertEqual(self.found["loaded summary"][0], "RuntimeError")
        self.assertIn("loaded, not fitted", self.found["loaded summary"][2])
        self.check_error("no errors", "UnsupportedOperationException", "^no standard errors: compute")
        self.assertEqual(self.found["stage"], 0.25)

    def test_what_a_server_calls_by_reflection_fails_with_its_reason(self):
        """A server of Spark 4.0 tells of such a failure by InvocationTargetException and no more."""
        for name in ("load nowhere", "load other", "predict size"):
            self.assertNotIn("InvocationTarget", str(self.found[name]))
        kind, _, message = self.found["load nowhere"]
        self.assertEqual(kind, "AnalysisException", message)
        self.assertRegex(message, r"Path does not exist: .*/nowhere/metadata")
        if self.spark.version.startswith("4.0."):
            kind, _, message = self.found["load other"]
            self.assertEqual(kind, "ValueError", message)
            self.assertRegex(message, "/model has a SparseQRRegressionModel, not a SparseQRRegression$")
            self.check_error("predict size", "NotTold", "which does not tell why, .*: the reason is in its log$")

    def test_pipeline_and_cross_validator(self):
        self.assertEqual(self.found["pipeline"], ["SparseQRRegressionModel", True])
        self.assertAlmostEqual(self.found["predict"], 5, places=12)
        first, second = self.found["validated"]
        self.assertLess(first, second)

    def test_interrupts_end_the_call_and_not_the_session(self):
        self.assertEqual(self.found["interrupted"][0], "KeyboardInterrupt")
        self.check_error("interrupted all", "Interrupted", "^this was interrupted on the server$")
        self.assertTrue(self.found["far from over"])
        self.assertAlmostEqual(self.found["after"], 96 / 55, places=13)


del ConnectTest

if __name__ == "__main__":
    unittest.main()
