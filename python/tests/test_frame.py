# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Data other than a Spark DataFrame: the message gives advice, and the advice works."""

import textwrap
import unittest

import sparqr
from tests.spark import LINE, SparkTest, require


class FrameTest(SparkTest):
    def advised(self, given, what, **names):
        """The DataFrame made by the Python lines in the message."""
        with self.assertRaisesRegex(TypeError, f"^Sparqr takes a Spark DataFrame, not {what}") as told:
            sparqr.solve(given)
        from sparqr.ml import SparseQRRegression

        with self.assertRaises(TypeError) as again:
            SparseQRRegression().fit(given)
        self.assertEqual(str(again.exception), str(told.exception))
        lines = [text for text in str(told.exception).splitlines() if text.startswith("    ")]
        self.assertTrue(lines, told.exception)
        scope = {"spark": self.spark, **names}
        exec(textwrap.dedent("\n".join(lines)), scope)
        return scope["df"]

    def check(self, df):
        self.assertAlmostEqual(sparqr.solve(df).x[0], 96 / 55, places=13)

    def test_pandas(self):
        require("pandas")
        import pandas

        pdf = pandas.DataFrame(LINE, columns=["label", "t"])
        self.check(self.advised(pdf, "a pandas DataFrame", pdf=pdf))
        with self.assertRaisesRegex(TypeError, "^Sparqr takes a Spark DataFrame, not a pandas Series"):
            sparqr.solve(pdf["t"])

    def test_arrow(self):
        require("pyarrow")
        import pyarrow

        table = pyarrow.table({"label": [y for y, _ in LINE], "t": [t for _, t in LINE]})
        self.check(self.advised(table, "a pyarrow Table", table=table))

    def test_numpy_and_lists(self):
        require("numpy")
        import numpy

        for kind, what in ((numpy.array, "a numpy ndarray"), (list, "a list"), (tuple, "a tuple")):
            A, b = kind([[t] for _, t in LINE]), kind([y for y, _ in LINE])
            self.check(self.advised(A, what, A=A, b=b))

    def test_scipy(self):
        require("scipy")
        import scipy.sparse

        b = [y for y, _ in LINE]
        dense = [[t, 0, 1.0] for _, t in LINE]
        for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array):
            A = kind(dense)
            df = self.advised(A, f"a scipy {kind.__name__}", A=A, b=b)
            x = sparqr.solve(df).x
            self.assertAlmostEqual(x[0], 2.1, places=13)
            self.assertEqual(x[1], 0)
            self.assertAlmostEqual(x[2], -1.3, places=13)
        with self.assertRaisesRegex(TypeError, r"scipy.io.mmwrite\(\"A.mtx\", A\)"):
            sparqr.solve(A)

    def test_pandas_on_spark_and_rdds(self):
        require("pandas", "pyarrow")
        import pyspark.pandas

        pyspark.pandas.set_option("compute.fail_on_ansi_mode", False)
        with self.assertRaisesRegex(TypeError, r"not a pyspark DataFrame\. .*df\.to_spark\(\)"):
            sparqr.solve(pyspark.pandas.DataFrame({"t": [1.0]}))
        with self.assertRaisesRegex(TypeError, r"not a pyspark PipelinedRDD\. .*spark\.createDataFrame\(rdd"):
            sparqr.solve(self.data.rdd.map(tuple).sortBy(str))

    def test_whatever_else(self):
        for other in (None, "frame", object()):
            with self.assertRaisesRegex(TypeError, "label .numbers. and features .vectors of pyspark"):
                sparqr.solve(other)


if __name__ == "__main__":
    unittest.main()
