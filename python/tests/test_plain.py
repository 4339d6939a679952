# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Tests without a JVM and without PySpark."""

import inspect
import struct
import unittest
from unittest import mock

import sparqr
from sparqr import _connect, _errors, _jvm, _solve


class PlainTest(unittest.TestCase):
    def test_doubles_are_decoded_with_and_without_numpy(self):
        values = [1.0, -0.0, 5e-324, 1e300, 0.1]
        data = struct.pack("<5d", *values)
        self.assertEqual(list(_jvm.decode(data)), values)
        with mock.patch.object(_jvm, "numpy", None):
            self.assertEqual(_jvm.decode(data), values)
            self.assertEqual(_jvm.decode(b""), [])
            self.assertEqual(_jvm.side_by_side([[1, 2], [3, 4]]), [[1, 3], [2, 4]])

    def test_names_are_checked_before_anything_else(self):
        with self.assertRaisesRegex(ValueError, "'metis' is none of auto, colamd"):
            sparqr.solve(None, ordering="metis")
        with self.assertRaisesRegex(ValueError, "'tpu' is none of auto, cpu, cuda"):
            sparqr.solve(None, backend="tpu")
        with self.assertRaisesRegex(ValueError, "names no column"):
            sparqr.solve(None, label_col=[])
        with self.assertRaisesRegex(TypeError, "^Sparqr takes a Spark DataFrame, not an object"):
            sparqr.solve(object())

    def test_every_option_reaches_the_builder(self):
        calls = {
            "ordering": ("nd", "ordering", "NESTED_DISSECTION"),
            "backend": ("cuda", "backend", "REQUIRE_CUDA"),
            "ridge": (2, "ridge", 2.0),
            "rank_tolerance": (1e-3, "rankTolerance", 1e-3),
            "rank_policy": ("fail", "rankPolicy", "FAIL"),
            "equilibrate": (False, "equilibrate", False),
            "minimum_norm": (True, "minimumNorm", True),
            "min_rcond": (1e-4, "minRcond", 1e-4),
            "refinement": (3, "refinement", 3),
            "check": (True, "check", True),
            "columns": (7, "columns", 7),
            "executors": (4, "executors", 4),
            "minimum_executors": (3, "minimumExecutors", 3),
            "executor_wait": (2, "executorWait", 2.0),
            "partitions": (5, "partitions", 5),
            "profile": (True, "profile", True),
        }
        parameters = inspect.signature(sparqr.solve).parameters.values()
        options = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
        # progress becomes a listener
        self.assertEqual(options - {"progress"}, set(calls))
        for name, (value, method, expected) in calls.items():
            plain = self.builder_calls()
            told = self.builder_calls(**{name: value})
            self.assertNotEqual(plain.get(method), told.get(method), name)
            self.assertEqual(told.pop(method), expected, name)
            plain.pop(method, None)
            self.assertEqual(told, plain, name)

    @staticmethod
    def builder_calls(**options):
        """Calls made by sparqr.solve on the Java builder before it builds: name -> argument."""
        calls = {}

        class Builder:
            def __getattr__(self, name):
                def record(value=None):
                    if name == "build":
                        raise InterruptedError
                    calls[name] = value
                    return self

                return record

        class Name:
            """A package, a class or a constant of the JVM."""

            def __init__(self, name):
                self.name = name

            def __getattr__(self, part):
                return Name(part)

            def __eq__(self, other):
                return self.name == other

            def __call__(self):
                return Builder() if self.name == "builder" else []

        class ArrayList(list):
            add = list.append

        jvm = Name("jvm")
        jvm.java = mock.Mock()
        jvm.java.util.ArrayList = ArrayList
        frame = mock.Mock(_jdf=object())
        frame.sparkSession._jvm = jvm
        try:
            with mock.patch.object(_solve, "in_thread", lambda session, what, work: work()):
                sparqr.solve(frame, **options)
        except InterruptedError:
            return calls
        raise AssertionError("nothing was built")

    def test_options_that_are_none_are_refused(self):
        for wrong in (
            {"rigde": 1.0},
            {"check": "yes"},
            {"equilibrate": None},
            {"minimum_norm": "False"},
            {"columns": 3.5},
            {"refinement": 1.5},
            {"executors": "2"},
        ):
            with self.assertRaises(TypeError, msg=str(wrong)) as told:
                sparqr.solve(mock.Mock(), **wrong)
            self.assertNotIn("DataFrame", str(told.exception))
        with self.assertRaisesRegex(ValueError, "'stop' is none of report, fail"):
            sparqr.solve(None, rank_policy="stop")

    def test_a_missing_jar_is_told(self):
        class JavaPackage:
            def __getattr__(self, name):
                return JavaPackage()

        with self.assertRaisesRegex(RuntimeError, "^Sparqr's jar is missing: "):
            _jvm.java_class(JavaPackage(), "io.sparqr.spark.GpuSparseQR")

    def test_only_references_of_connect_are_kept_at_the_end(self):
        class JavaObject:
            """Like Py4J's objects, it has any attribute asked for."""

            def __getattr__(self, name):
                raise AssertionError(f"{name} was called in a JVM that ends")

        class RemoteModelRef:
            count = 1

            def add_ref(self):
                self.count += 1

        java, reference = mock.MagicMock(), RemoteModelRef()
        for one in (java, reference, JavaObject(), None):
            _connect.note_reference(one)
        _connect._keep_references()
        self.assertEqual(reference.count, 2)
        java.add_ref.assert_not_called()

    def test_only_our_errors_are_translated(self):
        with self.assertRaises(ZeroDivisionError):
            with _errors.telling_errors():
                1 / 0


if __name__ == "__main__":
    unittest.main()
