# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""What a kept factorization has beyond solutions, as in Java: explicit Q, saved, loaded, appended to, predictions, devices."""

import unittest

import sparqr
from sparqr._hypotheses import student_quantile
from tests.spark import SparkTest, require

SEED = 20261129
EPS = 2.0**-52


class FactoredTest(SparkTest):
    """Against dense algebra. The matrices have condition numbers below 10."""

    @classmethod
    def setUpClass(cls):
        require("numpy", "scipy", "pandas")
        super().setUpClass()
        import numpy as np

        cls.np = np
        rng = np.random.default_rng(SEED)
        cls.A = rng.normal(size=(60, 6)) * (rng.random((60, 6)) < 0.6) + 3 * np.eye(60, 6)
        cls.b = rng.normal(size=60)
        cls.B = rng.normal(size=(60, 2))
        cls.w = rng.uniform(0.5, 2, 60)
        cls.w[[3, 20]] = 0

    def close(self, found, wanted):
        np = self.np
        self.assertEqual(np.shape(found), np.shape(wanted))
        scale = np.abs(wanted).max()
        self.assertLessEqual(np.abs(np.asarray(found) - wanted).max(), 1000 * EPS * scale, SEED)

    def test_q(self):
        np = self.np
        for w in (None, self.w):
            root = np.sqrt(np.ones(60) if w is None else w)
            A = self.A * root[:, None]
            with sparqr.factorize(self.A, weights=w) as f:
                q, r = f.q(*range(f.rank)), f.r.toarray()
                self.assertEqual(q.shape, (60, 6))
                self.close(q @ r, A[:, f.permutation])
                self.close(q.T @ q, np.eye(6))
                self.close(f.q(4, 0), q[:, [4, 0]])
                c = np.arange(1.0, 7)
                self.close(f.apply_q(c), q @ c)
                self.close(f.apply_q(np.column_stack([c, -c])), np.column_stack([q @ c, -(q @ c)]))
                y = np.where(root > 0, self.b, 0.0)  # rows of weight 0 are no part of it
                found = f.apply_q_transposed(self.b)
                self.close(found.values, q.T @ y)
                self.assertAlmostEqual(found.rest, np.linalg.norm(y - q @ (q.T @ y)), delta=1000 * EPS * 10)
                both = f.apply_q_transposed(self.B)
                self.assertEqual((both.values.shape, both.rest.shape), ((6, 2), (2,)))
                self.close(both.values[:, 1], f.apply_q_transposed(self.B[:, 1]).values)

    def test_criteria(self):
        with sparqr.factorize(self.A) as f:
            whole = f.criteria()
            self.assertTrue(whole["met"] and whole["exact"], whole)
            for name in ("residual", "orthogonality", "lower"):
                self.assertLess(0, whole[name])
                self.assertLessEqual(whole[name], whole[name + "Bound"])
            few = f.criteria(2)
            self.assertEqual((few["probes"], few["exact"], few["met"]), (2, False, True))
            with self.assertRaisesRegex(ValueError, "0 probes: at least 1"):
                f.criteria(0)

    def test_wrong_vectors_of_q(self):
        np = self.np
        with sparqr.factorize(self.A) as f:
            for call, error, said in (
                (lambda: f.q(), ValueError, "no column of Q"),
                (lambda: f.q(0, 6), IndexError, "column 6 of Q, which has 6"),
                (lambda: f.q(-1), IndexError, "column -1 of Q"),
                (lambda: f.apply_q(np.ones(5)), ValueError, "c has 5 rows, R has 6"),
                (lambda: f.apply_q_transposed(np.ones(59)), ValueError, "y has 59 rows, A has 60"),
                (lambda: f.apply_q_transposed(np.full(60, np.nan)), sparqr.SparqrError, r"y\[0\] is nan"),
            ):
                with self.subTest(said), self.assertRaisesRegex(error, said):
                    call()
        with sparqr.factorize(self.A, keep_q=False) as f:
            for call in (lambda: f.q(0), lambda: f.criteria(), lambda: f.apply_q_transposed(self.b)):
                with self.assertRaisesRegex(sparqr.SparqrError, "keepQ") as caught:
                    call()
                self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_the_b_that_came_with_a(self):
        np = self.np
        for b in (self.b, self.B):
            with sparqr.factorize(self.A, b) as f:
                x = np.linalg.lstsq(self.A, b, rcond=None)[0]
                self.close(f.solve().x, x)
                self.close(f.solve(b).x, x)
                self.close(f.solve(standard_errors=True).standard_errors, f.solve(b, standard_errors=True).standard_errors)
        with sparqr.factorize(self.A) as f, self.assertRaisesRegex(ValueError, "^no b came with A"):
            f.solve()

    def test_saved_and_loaded(self):
        np = self.np
        for b, name in ((self.b, "one"), (self.B, "two")):
            folder = self.path(name)
            with sparqr.factorize(self.A, b, weights=self.w, ridge=0.5) as f:
                f.save(folder)
                wanted = f.solve(standard_errors=True)
                with self.assertRaisesRegex(FileExistsError, name):
                    f.save(folder)
                f.save(folder, overwrite=True)
            with sparqr.load(folder) as g:
                found = g.solve(standard_errors=True)
                self.assertEqual(found.x.tolist(), wanted.x.tolist())
                self.close(found.standard_errors, wanted.standard_errors)
                self.close(found.residual_norm, wanted.residual_norm)
                self.assertEqual((g.shape, g.rank), ((58, 6), 6))
                other = g.solve_relabeled(self.A, 2 * b, weights=self.w)
                self.close(other.x, 2 * wanted.x)
                self.close(g.predict(np.eye(6)).fit, wanted.x)
                for call in (lambda: g.solve(b), lambda: g.apply_q_transposed(b), g.leverages):
                    with self.assertRaisesRegex(ValueError, "^this factorization has no rows"):
                        call()
                with self.assertRaisesRegex(ValueError, "^refit is of factorizations by sparqr.factorize"):
                    g.refit(self.A)
                with self.assertRaisesRegex(sparqr.SparqrError, "loaded"):
                    g.q(0)
                with self.assertRaises(ValueError):
                    g.solve_relabeled(self.A + 1, b, weights=self.w)
        with self.assertRaisesRegex(FileNotFoundError, "nosuch"):
            sparqr.load(self.path("nosuch"))

    def test_appended(self):
        np = self.np
        for b in (self.b, self.B):
            with sparqr.factorize(self.A[:40], b[:40]) as f:
                with f.append(self.A[40:], b[40:]) as g:
                    x = np.linalg.lstsq(self.A, b, rcond=None)[0]
                    found = g.solve(standard_errors=True)
                    self.close(found.x, x)
                    self.assertEqual((g.shape, g.rank), ((60, 6), 6))
                    self.assertEqual(found.report["rows"], 60)
                    sigma = np.linalg.norm(b - self.A @ x, axis=0) / np.sqrt(54)
                    unit = np.sqrt(np.diag(np.linalg.inv(self.A.T @ self.A)))
                    self.close(found.standard_errors, np.multiply.outer(unit, sigma))
                    self.close(g.solve_relabeled(self.A, 3 * b).x, 3 * x)
                    with self.assertRaisesRegex(ValueError, "^this factorization has no rows"):
                        g.solve(b)
                    with g.append(self.A[:5], b[:5]) as h:
                        more = np.vstack([self.A, self.A[:5]])
                        self.close(h.solve().x, np.linalg.lstsq(more, np.concatenate([b, b[:5]]), rcond=None)[0])
                    folder = self.path(f"appended{b.ndim}")
                    g.save(folder)
                    with sparqr.load(folder) as again:
                        self.assertEqual(again.solve().x.tolist(), found.x.tolist())
                # the first one is as it was
                self.close(f.solve().x, np.linalg.lstsq(self.A[:40], b[:40], rcond=None)[0])
                with self.assertRaisesRegex(ValueError, "the new rows have no b, A had one"):
                    f.append(self.A[40:])
                with self.assertRaisesRegex(sparqr.SparqrError, "right-hand side"):
                    f.append(self.A[40:], np.ones((20, 3)))
        with sparqr.factorize(self.A[:40]) as f, f.append(self.A[40:]) as g:
            self.close(g.solve_relabeled(self.A, self.b).x, np.linalg.lstsq(self.A, self.b, rcond=None)[0])

    def test_predictions(self):
        np = self.np
        new = np.array([[1.0, 0, 2, 0, 0, 1], [0, 0, 0, 0, 0, 0], [0, 1, 0, 0, -1, 0]])
        weights = np.array([1.0, 4.0, 0.25])
        root = np.sqrt(self.w)
        A = self.A * root[:, None]
        for b in (self.b, self.B):
            sides = b * (root if b.ndim == 1 else root[:, None])
            x = np.linalg.lstsq(A, sides, rcond=None)[0]
            sigma = np.linalg.norm(sides - A @ x, axis=0) / np.sqrt(58 - 6)
            h = np.einsum("ij,jk,ik->i", new, np.linalg.inv(A.T @ A), new)
            with sparqr.factorize(self.A, b, weights=self.w) as f:
                found = f.predict(new, weights=weights)
            self.close(found.fit, new @ x)
            self.close(found.standard_errors, np.multiply.outer(np.sqrt(h), sigma))
            self.close(found.observation_errors, np.multiply.outer(np.sqrt(h + 1 / weights), sigma))
            self.assertEqual(found.degrees_of_freedom, 52)
            t = student_quantile(0.9, 52)
            low, high = found.interval("confidence", alpha=0.1)
            self.close(high - low, 2 * t * found.standard_errors)
            low, high = found.interval(alpha=0.1)
            self.close(low, found.fit - t * found.observation_errors)
            self.close(high, found.fit + t * found.observation_errors)
            told = sparqr.lstsq(self.A, b, weights=self.w, predict=new).predictions
            self.close(told.fit, new @ x)
            self.close(told.observation_errors, np.multiply.outer(np.sqrt(h + 1), sigma))
        with self.assertRaisesRegex(ValueError, "2 right-hand sides: a table is of one"):
            told.to_pandas()
        one = sparqr.lstsq(self.A, self.b, predict=new).predictions.to_pandas("confidence")
        self.assertEqual(list(one.columns), ["fit", "se_fit", "ci_low", "ci_high"])

    def test_what_the_data_do_not_determine_is_not_predicted(self):
        np = self.np
        A = np.column_stack([self.A, self.A[:, 0] + self.A[:, 1]])
        # orthogonal to the null vector (1, 1, 0, 0, 0, 0, -1), and not
        new = np.array([[1.0, 1, 0, 0, 0, 0, 2], [0, 0, 0, 0, 0, 0, 1]])
        found = sparqr.lstsq(A, self.b, predict=new).predictions
        least = np.linalg.pinv(A) @ self.b
        self.assertTrue(np.isnan(found.fit[1]) and np.isnan(found.standard_errors[1]))
        self.close(found.fit[:1], new[:1] @ least)

    def test_wrong_predictions(self):
        np = self.np
        for call, said in (
            (lambda f: f.predict(np.ones((2, 5))), "the new rows have 5 columns, A has 6"),
            (lambda f: f.predict(np.ones((1, 6)), weights=[0.0]), "has the weight 0"),
            (lambda f: f.predict(np.ones((1, 6))).interval("both"), "interval 'both' is none of"),
            (lambda f: f.predict(np.ones((1, 6))).interval(alpha=0), "alpha 0 is not within"),
        ):
            with sparqr.factorize(self.A, self.b) as f, self.subTest(said), self.assertRaisesRegex(ValueError, said):
                call(f)
        with sparqr.factorize(self.A) as f, self.assertRaisesRegex(ValueError, "^no b came with A"):
            f.predict(np.ones((1, 6)))
        with self.assertRaisesRegex(ValueError, "predict belong to a basic solution"):
            sparqr.lstsq(self.A, self.b, minimum_norm=True, predict=np.ones((1, 6)))

    def test_a_report_says_when_where_and_by_what(self):
        import datetime

        import scipy.io
        from scipy.sparse import csr_array

        file = self.path("A.mtx")
        scipy.io.mmwrite(file, csr_array(self.A))
        result = sparqr.lstsq(file, self.b, ridge=0.25, profile=True)
        run = result.report["run"]
        self.assertEqual((run["input"], run["options"]["ridge"]), (file, "0.25"))
        self.assertEqual(run["applicationId"], self.spark.sparkContext.applicationId)
        self.assertEqual(run["versions"]["spark"], self.spark.version)
        self.assertEqual(run["hosts"], [run["host"]])
        began = datetime.datetime.fromisoformat(run["startedAt"].replace("Z", "+00:00"))
        self.assertLess(abs((datetime.datetime.now(datetime.timezone.utc) - began).total_seconds()), 600)
        page = result.to_html()
        for part in (file, run["startedAt"], run["applicationId"], '<dl id="run">'):
            self.assertIn(part, page)
        self.assertEqual(sparqr.lstsq(self.A, self.b).report["run"]["input"], "")

    def test_devices(self):
        """As many as the doctor finds, whatever the machine has."""
        found = sparqr.devices()
        told = [f for f in sparqr.doctor().findings if f.check == "cuda" and f.message.startswith("device") and "kernels" in f.message]
        self.assertEqual([d.description for d in found], [f.message for f in told])
        for k, device in enumerate(found):
            self.assertEqual((device.where, device.index), ("driver", k))
            self.assertGreater(device.memory_bytes, 1 << 28)


if __name__ == "__main__":
    unittest.main()
