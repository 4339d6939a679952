# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""sparqr.feols: the digits of pyfixest and statsmodels, every kind of table, refusals."""

import contextlib
import io
import json
import math
import os
import pathlib
import sys
import unittest

import sparqr
from sparqr._feols import parsed_vcov
from tests import panels
from tests.spark import HOME, SparkTest, require

REFERENCE = json.loads(pathlib.Path(__file__).with_name("reference").joinpath("feols.json").read_text())
FIELDS = ["Estimate", "Std. Error", "t value", "Pr(>|t|)", "2.5%", "97.5%"]
P = FIELDS.index("Pr(>|t|)")
TWO = "log_wage ~ age + tenure | worker + firm"

# Otherwise only the quick ones run.
ALL = "SPARQR_TEST_ALL" in os.environ


def allowed(k, one, two):
    """Allowed distance of a number from pyfixest's, or from statsmodels' if only that exists."""
    if one is None:
        return 1e-11 * abs(two) + (1e-14 if k == P else 0)
    # pyfixest iterates to find effects, and computes p values as 1 minus a probability
    apart = 2 * abs(one - two) if two is not None else 1e-8 * abs(one)
    return apart + 1e-11 * abs(one) + (1e-13 if k == P else 0)


class FeolsTest(SparkTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        require("pandas", "pyarrow", "polars")
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
        wanted = [row for package in (one, two) for row in package.values()]
        # Two-way sums of covariances may be negative, and are repaired here: the errors are others then.
        repaired = any(k is not None and math.isnan(k) for row in wanted for k in row)
        self.assertEqual(repaired, "negative" in " ".join(fit.warnings), (case["formula"], fit.warnings))
        for name, row in table.iterrows():
            a, b = one.get(name, [None] * 6), two.get(name, [None] * 6)
            for k, found in enumerate(row):
                wanted = b[k] if a[k] is None else a[k]
                told = (name, FIELDS[k], found, a[k], b[k])
                if repaired and k > 0:
                    self.assertFalse(math.isnan(found), told)
                else:
                    self.assertLessEqual(abs(found - wanted), allowed(k, a[k], b[k]), told)

    def test_the_digits_of_pyfixest_and_statsmodels(self):
        """Real data and a simulated panel, every kind of errors; reference values from
        tests/reference/feols.py.
        """
        fits = 0
        missing = sorted({case["data"] for case in REFERENCE["cases"]} - set(self.tables))
        if missing:
            print(f"not here, so left out: {', '.join(missing)}", file=sys.stderr)
        for case in REFERENCE["cases"]:
            if case["data"] not in self.tables or not (case["quick"] or ALL):
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
        self.assertGreaterEqual(fits, (50 if ALL else 9) + (0 if missing else 2))

    def test_every_kind_of_table(self):
        """The same rows, the same numbers: pandas, Polars, PyArrow, categories, Spark, pandas on Spark."""
        import pandas
        import polars
        import pyarrow
        import pyspark.pandas

        formula, vcov = "log_wage ~ age + firm:tenure | worker", "iid"
        kept = sparqr.feols(formula, self.wages, vcov)
        wanted = kept.tidy()
        arrow = pyarrow.Table.from_pandas(self.wages)
        firms = pandas.Categorical(self.wages["firm"], categories=["none", *sorted(set(self.wages["firm"]))])
        encoded = arrow.set_column(0, "worker", arrow["worker"].dictionary_encode())
        encoded = encoded.set_column(3, "age", encoded["age"].cast(pyarrow.uint8()))
        spark = self.spark.createDataFrame(arrow)
        pyspark.pandas.set_option("compute.fail_on_ansi_mode", False)
        tables = [encoded, self.wages.assign(firm=firms), spark, spark.pandas_api()]
        frame = polars.from_arrow(arrow)
        tables += [frame, frame.lazy(), frame.with_columns(polars.col("firm").cast(polars.Categorical))]
        for table in tables:
            with self.subTest(kind=type(table)):
                self.same(sparqr.feols(formula, table, vcov).tidy(), wanted)
        self.assertEqual(kept.resid().shape, (240,))
        frame = sparqr.feols(formula, spark).resid()
        self.assertEqual(frame.columns, ["residuals"])
        for a, b in zip(kept.resid(), [r[0] for r in frame.collect()]):
            self.assertAlmostEqual(a, b, places=12)

    def test_categories_of_numbers_and_their_first(self):
        import pandas

        years = pandas.Categorical(self.wages["year"], categories=[1999, 2020, 2018, 2019, 2021, 2022, 2023])
        fit = sparqr.feols("log_wage ~ age + year", self.wages.assign(year=years))
        named = sparqr.feols(
            "log_wage ~ age + year", self.wages, categorical=["year"], references={"year": 2020}
        )
        self.assertNotIn("year2020", fit.coef().index)
        self.assertIn("year2018", fit.coef().index)
        self.same(fit.tidy(), named.tidy())

    def test_what_is_left_out(self):
        """Rows with missing values, or alone in a level of an effect, do not count, locally and in Spark."""
        import numpy

        data = self.tables["panel"].assign(firm=lambda d: "f" + d["firm"].astype(str))
        holes = data.copy()
        holes.loc[[5, 70], "x1"] = numpy.nan
        holes.loc[[9, 71], "worker"] = None
        holes.loc[8, "x2"] = -1.0  # a negative number has no logarithm
        holes.loc[11, "w"] = numpy.nan
        formula, vcov = "y ~ x1 + log(x2) | worker + firm", {"CRV1": "worker + firm"}
        gone = {5, 70, 9, 71, 8, 11}
        while True:
            rest = data.drop(index=list(gone))
            alone = set()
            for effect in ("worker", "firm"):
                counts = rest[effect].map(rest[effect].value_counts())
                alone |= set(rest.index[counts == 1])
            if not alone:
                break
            gone |= alone
        self.assertGreater(len(gone), 6)
        wanted = sparqr.feols(formula, rest, vcov, "w", fixef_rm="none")
        here = sparqr.feols(formula, holes, vcov, "w")
        there = sparqr.feols(formula, self.spark.createDataFrame(holes), vcov, "w")
        self.assertEqual((here.nobs, there.nobs), (len(rest), len(rest)), panels.SEED)
        for fit in (here, there):
            self.same(fit.tidy(), wanted.tidy(), 1e-10)
        kept = sparqr.feols(formula, holes, vcov, "w", fixef_rm="none")
        self.assertEqual(kept.nobs, len(data) - 6)
        self.same(kept.coef().to_frame(), here.coef().to_frame(), 1e-10)
        self.assertNotEqual(kept.se().iloc[0], here.se().iloc[0])
        # in the order of the remaining rows
        residual = rest["y"].to_numpy() - here.predict(rest)
        self.assertLess(abs(here.resid() - residual).max(), 1e-12)

    def test_the_parts_of_a_result(self):
        import numpy

        fit = sparqr.feols(TWO, self.wages, {"CRV1": "worker"})
        table = fit.tidy()
        for column, part in zip(FIELDS, (fit.coef(), fit.se(), fit.tstat(), fit.pvalue())):
            self.assertEqual(part.name, column)
            self.assertTrue((table[column] == part).all())
        self.assertTrue((fit.to_pandas() == table).all().all())
        self.assertEqual(list(fit.confint(0.1).columns), ["5%", "95%"])
        self.assertTrue((fit.confint(0.1)["5%"] > table["2.5%"]).all())
        with self.assertRaisesRegex(ValueError, "alpha 2 is not within"):
            fit.confint(2)
        self.assertTrue(numpy.allclose(numpy.sqrt(numpy.diag(fit.vcov())), fit.se(), rtol=1e-12))
        self.assertEqual(list(fit.vcov().columns), ["age", "tenure"])
        effects = fit.fixef()
        self.assertEqual(list(effects), ["worker", "firm"])
        self.assertEqual((len(effects["worker"]), len(effects["firm"])), (40, 4))
        one = self.wages.iloc[37]
        by_hand = effects["worker"][one["worker"]] + effects["firm"].get(one["firm"], 0.0)
        by_hand += fit.coef() @ one[["age", "tenure"]].astype(float)
        self.assertAlmostEqual(fit.predict()[37], by_hand, places=12)
        news = self.wages.assign(worker=lambda d: d["worker"].where(d["year"] != 2020, "someone"))
        news.loc[0, "age"] = None
        found = fit.predict(news)
        unknown = (news["year"] == 2020).to_numpy() | (news.index == 0)
        self.assertTrue((numpy.isnan(found) == unknown).all())
        self.assertTrue(numpy.allclose(found[~unknown], fit.predict()[~unknown], rtol=1e-13))
        frame = fit.predict(self.spark.createDataFrame(news), name="yhat")
        self.assertEqual(frame.columns, [*news.columns, "yhat"])
        self.assertTrue(numpy.allclose([r["yhat"] for r in frame.collect()], found, rtol=1e-13, equal_nan=True))
        self.assertTrue(numpy.allclose(fit.resid(), self.wages["log_wage"] - fit.predict(), atol=1e-13))

    def test_a_model_of_a_constant_and_columns_that_depend(self):
        fit = sparqr.feols("log_wage ~ 1", self.wages)
        self.assertAlmostEqual(fit.coef()["(Intercept)"], self.wages["log_wage"].mean(), places=13)
        self.assertAlmostEqual(fit.predict(self.wages)[0], self.wages["log_wage"].mean(), places=13)
        self.assertEqual(fit.fixef(), {})
        twice = self.wages.assign(months=12 * self.wages["age"])
        fit = sparqr.feols("log_wage ~ age + months | worker", twice)
        self.assertEqual((list(fit.coef().index), fit.dropped), (["age"], ["months"]))
        self.assertIn("Not defined", str(fit))
        # keep_terms is its name since; this one is accepted until 1.0
        fit = sparqr.feols("log_wage ~ age + months | worker", twice, keep=["months"])
        self.assertEqual((list(fit.coef().index), fit.dropped), (["months"], ["age"]))
        self.assertEqual(fit.vcov().shape, (1, 1))

    def test_a_model_of_absorbed_effects_alone(self):
        """A table without rows, as in fixest and pyfixest, for every kind of errors."""
        effects = None
        for vcov in (None, "hetero", "HC3", {"CRV1": "worker"}, {"CRV1": "worker + firm"}):
            fit = sparqr.feols("log_wage ~ 1 | worker + firm", self.wages, vcov)
            self.assertEqual(len(fit.tidy()), 0)
            self.assertEqual(list(fit.tidy().columns), FIELDS)
            self.assertEqual(fit.vcov().shape, (0, 0))
            self.assertIn("Observations: 240", str(fit))
            well_formed(self, fit._repr_html_())
            effects = effects or fit.fixef()
            for name, one in effects.items():
                self.same(fit.fixef()[name].to_frame(), one.to_frame())
        self.assertEqual((len(effects["worker"]), len(effects["firm"])), (40, 4))

    def test_effects_whose_graph_is_not_connected(self):
        """We count the rank of the dummies, fixest the levels of each factor less one."""
        import numpy
        import pandas

        data = self.wages.assign(side=lambda d: d["worker"] < "p20")
        data["firm"] = data["firm"] + data["side"].map({True: " here", False: " there"})
        fit = sparqr.feols(TWO, data)
        dummies = pandas.get_dummies(data[["worker", "firm"]], dtype=float).to_numpy()
        design = numpy.column_stack([dummies, data[["age", "tenure"]]])
        self.assertEqual(fit.rank, numpy.linalg.matrix_rank(design))
        self.assertEqual(fit.rank, 2 + 40 + 10 - 2)
        left = data["log_wage"] - design @ numpy.linalg.lstsq(design, data["log_wage"], rcond=None)[0]
        self.assertAlmostEqual(fit.sigma, (left @ left / (240 - fit.rank)) ** 0.5, places=13)

    def test_what_is_shown(self):
        """Output in a notebook and in print: names are escaped, colours are inherited from the page."""
        name = "a<b>&c"
        data = self.wages.rename(columns={"age": name})
        fit = sparqr.feols(f"log_wage ~ `{name}` + tenure | worker", data, "hetero")
        html = fit._repr_html_()
        self.assertIn("a&lt;b&gt;&amp;c", html)
        self.assertNotIn(name, html)
        well_formed(self, html)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertIsNone(fit.summary())
        for text in ("Inference: HC1", "Observations: 240", "Fixed effects: worker", "R2 within", name):
            self.assertIn(text, printed.getvalue())
        self.assertRegex(repr(fit), "^Feols.*nobs=240")

    def test_solutions_and_summaries_are_shown(self):
        from sparqr.ml import SparseQRRegression

        result = sparqr.solve(self.data)
        self.assertAlmostEqual(result.to_pandas()["x"][0], 96 / 55, places=13)
        both = sparqr.solve(self.data, label_col=["label", "label"])
        self.assertEqual(list(both.to_pandas().columns), ["x0", "x1"])
        for shown in (result, both):
            html = shown._repr_html_()
            well_formed(self, html)
            self.assertIn("1.745455", html)
        summary = SparseQRRegression().fit(self.data).summary
        self.assertAlmostEqual(summary.to_pandas()["estimate"]["features_0"], 2.1, places=13)
        html = summary._repr_html_()
        well_formed(self, html)
        self.assertIn("features_0", html)
        self.assertIn("2.1", html)

    def test_what_is_not_there(self):
        plain = "log_wage ~ age"
        for message, arguments in (
            ("CRV3, a jackknife", {"vcov": {"CRV3": "worker"}}),
            ("'NW' is not there; there are iid", {"vcov": "NW"}),
            ("one column of clusters, or two", {"vcov": {"CRV1": "worker + firm + year"}}),
            ("no column nobody", {"vcov": {"CRV1": "nobody"}}),
            ("no column nobody", {"weights": "nobody"}),
            ("ssc .* cluster_correction is one of", {"ssc": {"k_adj": False}}),
            ("weights_type is pyfixest's", {"weights_type": "fweights"}),
            ("fixef_rm 'perfect' is none of", {"fixef_rm": "perfect"}),
            ("cluster_correction 'x' is none of", {"cluster_correction": "x"}),
            ("reference level of firm", {"formula": "log_wage ~ firm", "references": {"firm": "x"}}),
            ("instrumental variables", {"formula": "log_wage ~ 1 | worker | age ~ tenure"}),
            ("several models", {"formula": "log_wage ~ sw(age, tenure)"}),
            ("several models", {"formula": "log_wage + age ~ tenure"}),
            (r"i\(\) is not there", {"formula": "log_wage ~ i(firm)"}),
            ("no column nobody", {"formula": "log_wage ~ nobody"}),
            ('where an operator or the end should stand', {"formula": "log_wage ~ age)"}),
        ):
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                sparqr.feols(**{"formula": plain, "data": self.wages, **arguments})
        for data in ([1], {"age": [1]}, self.wages["age"], None):
            with self.assertRaisesRegex(TypeError, "^data is (a|None).*, not a table: feols takes one of pandas, "):
                sparqr.feols(plain, data)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'wieghts'"):
            sparqr.feols(plain, self.wages, wieghts="hours")
        with self.assertRaisesRegex(sparqr.SparqrError, "age is Infinity"):
            sparqr.feols(plain, self.wages.assign(age=float("inf")))
        with self.assertRaisesRegex(ValueError, "no row has a value"):
            sparqr.feols(plain, self.wages.assign(age=float("nan")))
        sparqr.feols(plain, self.wages, ssc={"k_adj": True, "G_df": "min"})

    def case(self, name, **types):
        import pandas

        folder = HOME / "cli" / "src" / "test" / "resources" / "regression"
        return pandas.read_csv(folder / f"{name}.csv", **types)

    def both(self, formula, data, *arguments, **options):
        """The fit of a local table, and that of the same rows in Spark, whose tables are the same."""
        import pyarrow

        here = sparqr.feols(formula, data, *arguments, **options)
        frame = self.spark.createDataFrame(pyarrow.Table.from_pandas(data, preserve_index=False))
        there = sparqr.feols(formula, frame, *arguments, **options)
        self.same(there.tidy(), here.tidy(), 1e-10)
        self.assertEqual(there.dropped, here.dropped)
        self.assertEqual((there.nobs, there.effects, there.warnings), (here.nobs, here.effects, here.warnings))
        return here

    def test_what_effects_span_is_not_defined(self):
        """Values of R, the effects before the regressors."""
        data = self.case("24_third")
        for effects in ("id + date", "date + id"):
            fit = self.both(f"y ~ edu + ret | {effects}", data)
            self.assertEqual(fit.dropped, ["edu"])
            self.assertAlmostEqual(fit.coef()["ret"], -0.135335, 6)
            self.assertAlmostEqual(fit.se()["ret"], 0.119208, 6)
            self.assertEqual(fit.effects, {"id": 15, "date": 6})
        fit = self.both("y ~ treat*post | id + date", data, {"CRV1": "id"})
        self.assertEqual(fit.dropped, ["treat", "post"])
        self.assertAlmostEqual(fit.se()["treat:post"], 0.370409, 6)
        self.assertAlmostEqual(fit.r2_within, 0.01709, 5)
        data = self.case("23_trend")
        formula = "y ~ x + treat:C(year) | firm + year"
        fit = self.both(formula, data, {"CRV1": "firm"}, reference_levels={"year": 2017})
        self.assertEqual(fit.dropped, ["treat:factor(year)2017"])
        self.assertEqual([round(c, 3) for c in fit.coef()[1:]], [-0.171, 0.602, 1.369, 1.921])
        fit = self.both("y ~ x + treat:year | firm + year", data)
        self.assertAlmostEqual(fit.se()["treat:year"], 0.132446, 6)

    def test_rows_are_decided_once(self):
        """A cluster that is missing takes its row out before levels, references and categories are looked at."""
        import numpy
        import pandas

        data = self.case("03_lost_level")
        fit = self.both("y ~ x + g", data, {"CRV1": "cl"})
        self.assertEqual(list(fit.coef().index), ["(Intercept)", "x", "ggamma", "gzeta"])
        self.assertAlmostEqual(fit.coef()["gzeta"], 2.06636, 5)
        self.assertEqual(fit.left_out, "6 rows left out for want of cl (6)")
        self.assertIn("Observations: 34 (6 rows left out for want of cl (6))", str(fit))
        order = pandas.Categorical(data["g"], categories=["alpha", "zeta", "gamma", "beta"])
        fit = sparqr.feols("y ~ x + g", data.assign(g=order), {"CRV1": "cl"})
        self.assertEqual(list(fit.coef().index), ["(Intercept)", "x", "gbeta", "ggamma"])
        few = self.case("04_few")
        clusters = numpy.arange(30) % 7 * 1.0
        clusters[[3, 8, 11, 20]] = numpy.nan
        clusters[0] = -0.0
        fit = self.both("y ~ x", few.assign(c=clusters), {"CRV1": "c"})
        self.assertEqual(fit.nobs, 26)
        self.assertIn("clustered by c (7)", fit.vcov_detail)

    def test_few_clusters_names_types_and_warnings(self):
        from decimal import Decimal

        few = self.case("04_few")
        with self.assertRaisesRegex(ValueError, "^1 cluster: clustered errors need at least two$"):
            sparqr.feols("y ~ x", few, {"CRV1": "one"})
        self.assertAlmostEqual(sparqr.feols("y ~ x", few, {"CRV1": "two"}).pvalue()["x"], 0.006257, 6)
        self.assertEqual(list(self.both("y ~ .", few, {"CRV1": "two"}).coef().index)[1], "x")
        fit = self.both("y ~ y + x", few)
        self.assertIn("Warning: the response y is on the right-hand side", str(fit))
        fit = sparqr.feols("y ~ x + x1 + x2", self.case("29_collide", dtype={"x": str}))
        self.assertEqual(list(fit.tidy().index), ["(Intercept)", "x1", "x2", "x3", "x1.1", "x2.1"])
        self.assertEqual(fit.vcov().shape, (6, 6))
        names = self.case("26_names")
        fit = self.both("y ~ x + X + `my var` + `a.b` | `x:z`", names, fixef_rm="none")
        self.assertEqual(fit.dropped, ["x", "X", "`my var`", "a.b"])
        dates = self.case("07_dates", parse_dates=["day"])
        dates["date"] = dates["day"].dt.date
        dates["big"] = [Decimal(10**19 + i % 5) for i in range(len(dates))]
        for effect in ("day", "date", "C(day)"):
            self.assertAlmostEqual(self.both(f"y ~ x | {effect}", dates).se()["x"], 0.146797, 6)
        self.assertEqual(self.both("y ~ x | big", dates, {"CRV1": "date"}).effects, {"big": 5})
        with self.assertRaisesRegex(ValueError, "^column p: no column of Spark holds .*astype"):
            sparqr.feols("y ~ x | p", dates.assign(p=dates["day"].dt.to_period("M")))
        fit = self.both("won ~ x", self.case("28_bool"))
        self.assertAlmostEqual(fit.se()["x"], 0.079261, 6)
        fit = self.both("y ~ a + b + s32", self.case("34_near"))
        self.assertIn("the columns of a, b, s32 are nearly dependent", fit.warnings[0])
        fit = self.both("y ~ x + z", self.case("12_weights"), {"CRV1": "g"})
        self.assertAlmostEqual(fit.f_statistic, 128.7, 1)
        self.assertEqual(fit.f_df, (2, 2.0))

    def test_a_killed_worker_of_python(self):
        """Data from a Python function whose worker is killed: an error, the session stays usable, the next
        call succeeds.
        """
        import os
        import signal

        marker = pathlib.Path(self.path("killed"))
        before, self.spark.sparkContext.pythonExec = self.spark.sparkContext.pythonExec, sys.executable
        self.addCleanup(setattr, self.spark.sparkContext, "pythonExec", before)

        def rows(batches):
            for batch in batches:
                if not marker.exists():
                    marker.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                yield batch

        made = self.spark.createDataFrame(self.wages)
        made = made.mapInArrow(rows, made.schema)
        with self.assertRaisesRegex(Exception, "Python worker exited unexpectedly"):
            sparqr.feols("log_wage ~ age | worker", made)
        self.assertTrue(marker.exists())
        fit = sparqr.feols("log_wage ~ age | worker", made)
        self.same(fit.tidy(), sparqr.feols("log_wage ~ age | worker", self.wages).tidy(), 1e-11)


class VcovTest(unittest.TestCase):
    """Needs neither Spark nor a JVM."""

    def test_names(self):
        self.assertEqual(parsed_vcov(None), ("iid", []))
        self.assertEqual(parsed_vcov("hetero"), ("HC1", []))
        self.assertEqual(parsed_vcov({"CRV1": "a"}), ("CRV1", ["a"]))
        self.assertEqual(parsed_vcov({"CRV1": " a+ `b c` "}), ("CRV1", ["a", "b c"]))
        for wrong in ("HC4", "nid", {}, {"CRV1": ""}, {"CRV1": "a + a"}, {"CRV1": "a", "CRV2": "b"}, 3, {"HC1": "a"}):
            with self.assertRaises(ValueError):
                parsed_vcov(wrong)


def well_formed(test, html):
    """Tags are balanced, and the table sets no colours of its own."""
    from xml.etree import ElementTree

    ElementTree.fromstring(html)
    for word in ("#", "black", "white", "rgb("):
        test.assertNotIn(word, html)


if __name__ == "__main__":
    unittest.main()
