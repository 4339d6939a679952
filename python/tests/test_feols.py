# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""sparqr.feols: pyfixest's and statsmodels' digits, every kind of table, what is not there."""

import contextlib
import io
import itertools
import json
import math
import pathlib
import unittest

import sparqr
from sparqr._feols import parsed_vcov
from tests import panels
from tests.spark import SparkTest, require

REFERENCE = json.loads(pathlib.Path(__file__).with_name("reference").joinpath("feols.json").read_text())
FIELDS = ["Estimate", "Std. Error", "t value", "Pr(>|t|)", "2.5%", "97.5%"]
P = FIELDS.index("Pr(>|t|)")
TWO = "log_wage ~ age + tenure | worker + firm"


def allowed(k, one, two):
    """How far a number may be from pyfixest's, or from statsmodels' where that is alone."""
    if one is None:
        return 1e-11 * abs(two) + (1e-14 if k == P else 0)
    # pyfixest finds effects by iteration; its p values are 1 less something
    apart = 2 * abs(one - two) if two is not None else 1e-8 * abs(one)
    return apart + 1e-11 * abs(one) + (1e-13 if k == P else 0)


class FeolsTest(SparkTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        require("pandas", "pyarrow")
        import pandas

        cls.tables = {n: panels.columns(n) for n in ("wages", "panel", "trade", "publications")}
        cls.tables = {n: pandas.DataFrame(c) for n, c in cls.tables.items() if c is not None}
        cls.wages = cls.tables["wages"]

    def same(self, found, wanted, tolerance=1e-12):
        self.assertEqual(list(found.index), list(wanted.index))
        for a, b in zip(found.to_numpy().ravel(), wanted.to_numpy().ravel()):
            self.assertLessEqual(abs(a - b), tolerance * abs(b) + 1e-15, (found, wanted))

    def check(self, case, fit):
        table = fit.tidy()
        self.assertEqual(list(table.columns), FIELDS)
        one, two = case["pyfixest"] or {}, case["statsmodels"] or {}
        self.assertEqual(set(table.index), set(one or two))
        for name, row in table.iterrows():
            a, b = one.get(name, [None] * 6), two.get(name, [None] * 6)
            for k, found in enumerate(row):
                wanted = b[k] if a[k] is None else a[k]
                told = (name, FIELDS[k], found, a[k], b[k])
                self.assertLessEqual(abs(found - wanted), allowed(k, a[k], b[k]), told)

    def test_the_digits_of_pyfixest_and_statsmodels(self):
        """Real data and a simulated panel, every kind of errors; values by tests/reference/feols.py."""
        fits = 0
        for case in REFERENCE["cases"]:
            if case["data"] not in self.tables:
                continue
            told = {k: case[k] for k in ("data", "formula", "weights", "vcov")}
            with self.subTest(**told, seed=panels.SEED):
                fit = sparqr.feols(case["formula"], self.tables[case["data"]], case["vcov"], case["weights"])
                self.check(case, fit)
                for name, value in (case["fit"] or {}).items():
                    if value is not None and not math.isnan(value):
                        found = getattr(fit, name)
                        self.assertLessEqual(abs(found - value), 1e-9 * abs(value), (name, found, value))
            fits += 1
        self.assertGreater(fits, 35)


if __name__ == "__main__":
    unittest.main()
