# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""What needs neither a JVM nor PySpark."""

import struct
import unittest
from unittest import mock

import sparqr
from sparqr import _jvm


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
        with self.assertRaisesRegex(TypeError, "Spark Connect"):
            sparqr.solve(object())

    def test_a_missing_jar_is_told(self):
        class JavaPackage:
            def __getattr__(self, name):
                return JavaPackage()

        with self.assertRaisesRegex(RuntimeError, "start Spark with Sparqr's jar"):
            _jvm.java_class(JavaPackage(), "io.sparqr.spark.GpuSparseQR")

    def test_only_our_errors_are_translated(self):
        with self.assertRaises(ZeroDivisionError):
            with _jvm.telling_errors():
                1 / 0


if __name__ == "__main__":
    unittest.main()
