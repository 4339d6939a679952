# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""sparqr.analyze: predictions compared with the factorization itself."""

import unittest

import sparqr
from tests.spark import SparkTest, require

SEED = 20261123


class AnalyzeTest(SparkTest):
    @classmethod
    def setUpClass(cls):
        require("numpy", "scipy", "pandas")
        super().setUpClass()
        import numpy as np
        import scipy.sparse as sp

        rng = np.random.default_rng(SEED)
        # three random entries per row: rank 120, and fill in R
        a = sp.random(400, 120, density=0.025, random_state=rng, format="csr") + 5 * sp.eye(400, 120)
        cls.A = sp.csr_array(a)

    def test_sizes_are_those_of_the_factorization(self):
        found = sparqr.analyze(self.A, ordering="colamd")
        self.assertEqual((found.rows, found.columns), self.A.shape)
        self.assertEqual(found.nonzeros, self.A.nnz)
        self.assertEqual(found.ordering, "colamd")
        with sparqr.factorize(self.A, ordering="colamd") as f:
            report = f.report
            self.assertEqual(f.rank, 120, f"seed {SEED}")
            # zeros of R inside fronts are counted but not stored
            self.assertLessEqual(f.r.nnz, found.nonzeros_of_r)
        self.assertEqual(found.flops, report["flops"])
        self.assertEqual(found.fronts, report["fronts"])
        self.assertEqual(sum(b["fronts"] for b in found.histogram), found.fronts)
        self.assertAlmostEqual(sum(b["flops"] for b in found.histogram), found.flops, delta=1e-9 * found.flops)

    def test_advice_by_its_own_numbers(self):
        few = sparqr.analyze(self.A)
        self.assertEqual(few.advice["take"], "qr")
        self.assertEqual([way["method"] for way in few.advice["ways"]], ["qr", "lsqr", "normal"])
        self.assertEqual(few.advice["ways"][0]["seconds"], few.cuts[0].seconds)
        self.assertIn("advice: qr", few._repr_html_())
        # executors that take a thousand seconds, and executors without memory
        slow = sparqr.analyze(self.A, flops_per_second=few.flops / 1000)
        self.assertEqual(slow.advice["take"], "normal")
        small = sparqr.analyze(self.A, memory="20k")
        self.assertEqual(small.advice["take"], "lsqr", small.advice)

    def test_dense_matrix_has_the_flops_of_householder(self):
        import numpy as np

        m, n = 200, 40
        found = sparqr.analyze(np.ones((m, n)), ordering="natural")
        self.assertEqual(found.nonzeros_of_r, n * (n + 1) / 2)
        # Golub and Van Loan, 5.2.2; lower-order terms are of order m n
        self.assertAlmostEqual(found.flops, 2 * n * n * (m - n / 3), delta=4 * m * n)
        self.assertEqual(found.largest_front, (m, n))
        self.assertEqual(found.critical_path_flops, found.flops)

    def test_cuts(self):
        # slow executors, so that the work counts and not the network
        found = sparqr.analyze("gen:cells3d20", executors=[1, 4], memory="4g", flops_per_second=1e8)
        one, four = found.cuts
        self.assertEqual([one.executors, four.executors], [1, 4])
        self.assertEqual(one.speedup, 1)
        self.assertEqual(one.shuffle_bytes, 0)
        self.assertGreater(four.speedup, 1)
        self.assertLessEqual(four.speedup, 4)
        self.assertGreaterEqual(four.seconds, four.lower_bound_seconds)
        # half the rate: the part of the time that does not depend on the flops stays the same
        slow = sparqr.analyze("gen:cells3d20", executors=[1], memory="4g", flops_per_second=5e7).cuts[0]
        self.assertGreater(slow.seconds, one.seconds)
        self.assertLess(slow.seconds, 2 * one.seconds)
        gpu = sparqr.analyze("gen:cells3d20", executors=[1], gpu=True)
        self.assertNotEqual(gpu.cuts[0].seconds, one.seconds)

    def test_as_tables(self):
        found = sparqr.analyze(self.A, executors=[2, 3])
        table = found.to_pandas()
        self.assertEqual(list(table.index), [2, 3])
        self.assertEqual(list(table["task_bytes"]), [c.task_bytes for c in found.cuts])
        html = found._repr_html_()
        self.assertIn("400 x 120", html)
        self.assertEqual(html.count("<tr"), 3)
        self.assertIn("columns=120", repr(found))
        self.assertRegex(repr(found), r"R of [\d.]+ kB, [\d.]+ Mflop, fronts of [\d.]+ kB, ordering=")
        for shown in (html, str(found)):
            for part in ("400 x 120", "memory of a task", "Mflop", "kB"):
                self.assertIn(part, shown)
        self.assertNotIn("e+", str(found))

    def test_what_is_refused(self):
        A = self.A
        for options, part in (
            ({"executors": []}, "executors"),
            ({"executors": [0]}, "executors"),
            ({"ordering": "fastest"}, "fastest"),
            ({"memory": "much"}, "memory"),
            ({"memory": "0g"}, "memory"),
            ({"flops_per_second": 0.0}, "flops_per_second"),
            ({"gpu": True, "memory": "8g"}, "gpu"),
        ):
            with self.assertRaisesRegex(ValueError, part, msg=options):
                sparqr.analyze(A, **options)
        with self.assertRaises(FileNotFoundError):
            sparqr.analyze("missing.mtx")
        broken = A.copy()
        broken.data[7] = float("nan")
        with self.assertRaisesRegex(sparqr.SparqrError, "row .* is nan"):
            sparqr.analyze(broken)


if __name__ == "__main__":
    unittest.main()
