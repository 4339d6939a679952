# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""A sample of the campaign of random regressions: feols on every kind of table against a dense oracle."""

import os
import pathlib

from tests.programs import regressions
from tests.spark import SparkTest, require

SAMPLE = pathlib.Path(__file__).with_name("reference").joinpath("regressions.jsonl")

# Otherwise each case on one kind of table.
ALL = "SPARQR_TEST_ALL" in os.environ


class RegressionsTest(SparkTest):
    def test_a_case_of_every_kind_of_term(self):
        require("pandas", "pyarrow", "polars")
        fits = 0
        for k, case in enumerate(regressions.cases(SAMPLE)):
            kinds = regressions.TABLES if ALL else [regressions.TABLES[k % len(regressions.TABLES)]]
            for kind in kinds:
                for singletons in ("none", "singleton") if ALL or k % 3 == 0 else ("none",):
                    with self.subTest(case=case["case"], seed=case["seed"], table=kind, singletons=singletons):
                        some = regressions.check(case, kind, singletons, self.spark)
                        if some is not None:
                            fits += 1
                            self.assertEqual(some, [], regressions.told(case, kind, singletons, some))
        self.assertGreater(fits, 20)

    def test_a_wrong_figure_is_found(self):
        case = next(c for c in regressions.cases(SAMPLE) if c["none"]["coefficients"])
        found = regressions.fit(case, regressions.table(case, "pandas", self.spark), "none")
        self.assertEqual(regressions.differences(case["none"], found), [])
        row = next(r for r in case["none"]["coefficients"] if r["defined"] and r["figures"][1])
        for k, name in enumerate(regressions.FIGURES[:2]):
            right = row["figures"][k][0]
            row["figures"][k][0] = row["figures"][k][2] = right * (1 + 1e-6)
            self.assertRegex(regressions.differences(case["none"], found)[0], f"^{name} of ")
            row["figures"][k][0] = right
