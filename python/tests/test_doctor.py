# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""sparqr.doctor: this Python's side and, with a session, the JVM's."""

import json
import platform
import unittest
from unittest import mock

import sparqr
from sparqr import _doctor
from tests.spark import SparkTest


class FindingsTest(unittest.TestCase):
    def test_versions_on_both_sides(self):
        levels = [_doctor._python(v).level for v in [(3, 9, 18), (3, 10, 0), (3, 14, 2), (3, 15, 0)]]
        self.assertEqual(levels, ["error", "ok", "ok", "warning"])

    def test_a_missing_package_is_said_with_the_command(self):
        def load(name):
            if name == "scipy":
                raise ImportError
            return mock.Mock(__version__="1")

        with mock.patch.object(_doctor.importlib, "import_module", load):
            there, missing = _doctor._packages()
        self.assertIn("numpy 1", there.message)
        self.assertEqual((missing.level, missing.remedy), ("note", "pip install scipy"))

    def test_another_pyspark_than_spark(self):
        with mock.patch.dict("sys.modules", pyspark=mock.Mock(__version__="4.1.4")):
            self.assertEqual(_doctor._pyspark(mock.Mock(version="4.1.0")).level, "ok")
            self.assertEqual(_doctor._pyspark(mock.Mock(version="4.0.1")).level, "error")

    def test_workers_of_another_python(self):
        def fail(*_):
            raise RuntimeError("[PYTHON_VERSION_MISMATCH] Python in worker has 3.9 ...")

        with mock.patch.object(_doctor, "in_thread", fail):
            found = _doctor._workers(None)
        self.assertEqual(found.level, "error")
        self.assertTrue(found.remedy.startswith("PYSPARK_PYTHON="))

    def test_forms(self):
        made = sparqr.Diagnosis(
            [
                _doctor.Finding("ok", "versions", "driver", "<all> right", ""),
                _doctor.Finding("warning", "blas", "driver", "pure Java BLAS", "unset it"),
            ]
        )
        self.assertEqual(made.worst, "warning")
        self.assertIn("-> unset it", repr(made))
        self.assertIn("0 error(s), 1 warning(s)", repr(made))
        page = made._repr_html_()
        self.assertIn("&lt;all&gt; right", page)
        # the most serious first
        self.assertLess(page.index("pure Java BLAS"), page.index("&lt;all&gt;"))
        self.assertEqual(made.to_dict()["findings"][1]["remedy"], "unset it")

    def test_without_a_session_only_this_python(self):
        with mock.patch.object(_doctor, "_active", lambda: None):
            found = sparqr.doctor()
            self.assertEqual({f.where for f in found.findings}, {"this Python"})
            with self.assertRaisesRegex(ValueError, "session"):
                sparqr.doctor(problem="gen:cells2d12")


class DoctorTest(SparkTest):
    def test_everything_is_looked_at(self):
        found = sparqr.doctor(problem="1000x10x2000")
        self.assertEqual(
            {f.where for f in found.findings}, {"this Python", "driver", "all executors"}, repr(found)
        )
        by = {(f.where, f.check): f for f in found.findings}
        self.assertIn(platform.python_version(), by["this Python", "workers"].message)
        self.assertEqual(by["this Python", "workers"].level, "ok")
        self.assertEqual(by["this Python", "pyspark"].level, "ok")
        self.assertIn("dgemm", by["driver", "blas"].message)
        self.assertIn("1,000 x 10", by["all executors", "problem"].message)
        json.dumps(found.to_dict())

    def test_a_wrong_problem(self):
        with self.assertRaisesRegex(ValueError, "'big'"):
            sparqr.doctor(problem="big")


if __name__ == "__main__":
    unittest.main()
