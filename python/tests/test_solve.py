# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""sparqr.solve on PySpark."""

import gc
import threading
import traceback
import unittest
import warnings

import sparqr
from sparqr import _jvm
from sparqr._calls import in_thread
from tests.spark import SparkTest

# y and t of LINE, as rows (1, t).
LINE = [(y, [(0, 1.0), (1, t)] if t else [(0, 1.0)]) for t, y in enumerate([1, 3, 4, 8, 9])]


class SolveTest(SparkTest):
    def test_the_report_has_options_as_they_were_given(self):
        given = {"ordering": "nd", "rank_tolerance": 1e-7, "minimum_norm": True, "method": "householder", "partitions": 3}
        found = sparqr.solve(self.data, **given).report["run"]["options"]
        self.assertEqual({name: type(given[name])(value) for name, value in found.items()}, given)
        self.assertEqual(sparqr.solve(self.data).report["run"]["options"], {})

    def test_a_line_through_five_points(self):
        result = sparqr.solve(self.frame(LINE), check=True)
        self.assertAlmostEqual(result.x[0], 0.8, places=13)
        self.assertAlmostEqual(result.x[1], 2.1, places=13)
        self.assertEqual((result.rank, result.dead_columns), (2, []))
        squares = sum((y - 0.8 - 2.1 * t) ** 2 for t, y in enumerate([1, 3, 4, 8, 9]))
        self.assertAlmostEqual(result.residual_norm, squares**0.5, places=13)
        self.assertLess(result.report["normalResidual"], 1e-14)
        self.assertIn("rank=2", repr(result))

    def test_options_reach_the_solver(self):
        ones = self.frame([(2, [(0, 1)]), (2, [(0, 1)])])
        result = sparqr.solve(ones, ridge=2, ordering="nd", backend="cpu", executors=1)
        self.assertAlmostEqual(result.x[0], 1, places=14)
        self.assertIn("cpu", result.report["backend"])
        more = sparqr.solve(ones, ridge=2, refinement=2, partitions=2, columns=1, check=True)
        self.assertAlmostEqual(more.x[0], 1, places=14)
        self.assertLess(more.report["normalResidual"], 1e-14)

        twice = self.frame([(1, [(0, 1), (1, 1)]), (2, [(0, 1), (1, 1)])])
        basic = sparqr.solve(twice)
        self.assertEqual((basic.rank, len(basic.dead_columns)), (1, 1))
        least = sparqr.solve(twice, minimum_norm=True)
        self.assertAlmostEqual(least.x[0], 0.75, places=13)
        self.assertAlmostEqual(least.x[1], 0.75, places=13)
        self.assertEqual(sparqr.solve(twice, rank_tolerance=10).rank, 0)
        for policy in "fail", "FAIL", "Fail":
            with self.assertRaises(sparqr.SparqrError) as told:
                sparqr.solve(twice, rank_policy=policy)
            self.assertEqual(told.exception.kind, "RankDeficientException")
        self.assertEqual(sparqr.solve(twice, rank_policy="REPORT", ordering="AMD", backend="Cpu").rank, 1)
        with self.assertRaisesRegex(ValueError, "rank_policy 'never' is none of report, fail"):
            sparqr.solve(twice, rank_policy="never")

    def test_several_labels_and_weights(self):
        rows = [(y, entries, 0.0 if y > 8 else 4.0, 2.0 * y) for y, entries in LINE]
        frame = self.frame(rows)
        result = sparqr.solve(frame, label_col=["label", "b2"], weight_col="w")
        # Without the last point, which has weight 0: 0.7 + 2.2 t.
        for i, x in enumerate([0.7, 2.2]):
            self.assertAlmostEqual(result.x[i][0], x, places=13)
            self.assertAlmostEqual(result.x[i][1], 2 * x, places=13)
        self.assertAlmostEqual(2 * result.residual_norm[0], result.residual_norm[1], places=12)
        self.assertEqual(result.report["rows"], 4)
        only = sparqr.solve(frame, label_col=["b2"])
        self.assertEqual((len(only.residual_norm), len(only.x[0])), (1, 1))

    def test_errors_are_told_in_one_line(self):
        with self.assertRaisesRegex(sparqr.SparqrError, "negative weight") as told:
            sparqr.solve(self.frame([(1, [(0, 1)], -1.0)]), weight_col="w")
        self.assertEqual(told.exception.kind, "MatrixFormatException")
        with self.assertRaises(sparqr.SparqrError) as told:
            sparqr.solve(self.frame([(float("nan"), [(0, 1)])]))
        self.assertEqual(told.exception.kind, "NonFiniteValueException")
        self.assertNotIn("\n", str(told.exception))
        self.assertIn("\tat io.sparqr", told.exception.java_trace)

    def test_javas_errors_are_one_line_and_their_trace_is_asked_for(self):
        from sparqr._errors import telling_errors

        jvm = self.spark.sparkContext._jvm
        with self.assertRaises(sparqr.SparqrError) as told, telling_errors():
            jvm.java.util.ArrayList().get(3)
        self.assertEqual(told.exception.kind, "IndexOutOfBoundsException")
        self.assertEqual(str(told.exception), "IndexOutOfBoundsException: Index 3 out of bounds for length 0")
        self.assertIn("\tat java.base/java.util.ArrayList.get", told.exception.java_trace)
        shown = "".join(traceback.format_exception(told.exception))
        self.assertNotIn("\tat ", shown)
        self.assertNotIn("Py4J", shown)
        # in a task of Spark's
        broken = self.data.selectExpr("features", "double(assert_true(label < 5)) label")
        with self.assertRaises(Exception) as told:
            sparqr.solve(broken)
        shown = "".join(traceback.format_exception(told.exception))
        self.assertNotIn("\tat ", shown)

    def test_a_missing_column_is_told_in_a_line(self):
        for names in ({"features_col": "nosuch"}, {"label_col": ["label", "nosuch"]}, {"weight_col": "nosuch"}):
            with self.assertRaisesRegex(ValueError, "^no column nosuch; there are label, features$"):
                sparqr.solve(self.data, **names)
        # as Spark does, in any case
        self.assertEqual(list(sparqr.solve(self.data, label_col="LABEL").x), list(sparqr.solve(self.data).x))

    def test_an_error_of_sparks_own_passes_and_can_be_printed(self):
        from pyspark.errors import AnalysisException

        with self.assertRaisesRegex(AnalysisException, "label") as told:
            sparqr.solve(self.data, features_col="label.nosuch")
        self.assertNotIsInstance(told.exception, sparqr.SparqrError)
        with self.assertRaises(AnalysisException):
            self.spark.sql("select nosuch")

    def test_an_input_that_changes_between_its_readings_is_refused(self):
        label = "double(java_method('java.lang.Math', 'random')) label"
        changing = self.data.selectExpr("features", label)
        # with a local master the first reading leaves the rows, if there is room
        self.assertEqual(len(sparqr.solve(changing).x), 1)
        system = self.spark.sparkContext._jvm.java.lang.System
        system.setProperty("sparqr.rows.copyShare", "0")
        try:
            with self.assertRaises(sparqr.SparqrError) as told:
                sparqr.solve(changing)
        finally:
            system.clearProperty("sparqr.rows.copyShare")
        self.assertEqual(told.exception.kind, "InputChangedException")
        self.assertRegex(
            str(told.exception),
            r"^partition 0 had 5 rows, then as many with other labels: "
            r"the input changed between its two readings; persist it$",
        )
        persisted = changing.persist()
        self.assertEqual(len(sparqr.solve(persisted).x), 1)
        persisted.unpersist()

    def test_many_values_come_in_one_message(self):
        gateway = self.spark.sparkContext._gateway
        values = gateway.new_array(gateway.jvm.double, 100_000)
        values[99_999] = 0.1
        fetched = _jvm.doubles(gateway.jvm, values)
        self.assertEqual((len(fetched), fetched[99_999], fetched[0]), (100_000, 0.1, 0.0))


class CallTest(SparkTest):
    """The thread in which the call runs."""

    def told_by_tasks(self, *names):
        """Local properties as seen by the tasks of sparqr.solve."""
        from pyspark import TaskContext
        from pyspark.sql.functions import udf

        def reported():
            found = "|".join(str(TaskContext.get().getLocalProperty(n)) for n in names)
            raise ValueError(found.join(["<" * 2, ">" * 2]))  # the source text also appears in the message

        # From 4.2 on a function of rows needs PyArrow otherwise.
        frame = self.data.withColumn("label", udf(reported, "double", useArrow=False).asNondeterministic()())
        with self.assertRaisesRegex(Exception, "<<.*>>") as told:
            sparqr.solve(frame)
        return str(told.exception).split("<<", 1)[1].split(">>", 1)[0].split("|")

    def test_the_callers_properties_are_the_jobs(self):
        context = self.spark.sparkContext
        found = {}

        names = ("spark.scheduler.pool", "spark.jobGroup.id", "spark.job.interruptOnCancel")

        def caller():
            context.setLocalProperty("spark.scheduler.pool", "slow")
            context.setJobGroup("mine", "by the caller")
            context.addJobTag("tagged")
            self.spark.addTag("of the session")
            found["session"] = in_thread(self.spark, "tags", self.spark.getTags)
            found["tasks"] = self.told_by_tasks(*names, "spark.job.tags")
            found["after"] = [context.getLocalProperty(n) for n in names]
            found["tags"] = set(context.getJobTags())

        from pyspark import InheritableThread

        thread = InheritableThread(target=caller)
        thread.start()
        thread.join()
        *tasks, tags = found["tasks"]
        self.assertEqual(tasks, ["slow", "mine", "true"])
        self.assertIn("tagged", tags.split(","))
        self.assertEqual(found["session"], {"of the session"})
        self.assertEqual(found["after"], ["slow", "mine", "false"])
        self.assertEqual(found["tags"], {"tagged"})

    def test_a_job_group_of_its_own_where_the_caller_has_none(self):
        self.assertIsNone(self.spark.sparkContext.getLocalProperty("spark.jobGroup.id"))
        names = ("spark.jobGroup.id", "spark.job.tags", "spark.job.interruptOnCancel")
        told = [self.told_by_tasks(*names) for _ in range(2)]
        for group, tags, interrupts in told:
            self.assertRegex(group, "^sparqr-[0-9a-f-]{36}$")
            self.assertEqual((tags, interrupts), (group, "true"))
        self.assertNotEqual(told[0][0], told[1][0])
        self.assertIsNone(self.spark.sparkContext.getLocalProperty("spark.jobGroup.id"))

    def test_threads_and_connections_end_with_their_calls(self):
        def now():
            names = [
                t.getName()
                for t in self.spark._jvm.java.lang.Thread.getAllStackTraces().keySet()
                if t.getName().startswith("Thread-")
            ]
            return sorted(t.name for t in threading.enumerate()), len(names)

        sparqr.solve(self.data)
        gc.collect()  # connections of earlier tests end when their objects do
        before = now()
        kept = []  # an error holds the frames of its traceback
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ResourceWarning)
            for _ in range(3):
                sparqr.solve(self.data)
                try:
                    sparqr.solve(self.data.selectExpr("features", "double('NaN') label"))
                except sparqr.SparqrError as e:
                    kept.append(e)
            gc.collect()
        threads, connections = now()
        self.assertEqual(threads, before[0])
        self.assertLessEqual(connections, before[1])
        self.assertEqual(len(kept), 3)
        self.assertEqual([str(w.message) for w in caught if w.category is ResourceWarning], [])

    def test_calls_of_several_threads_at_once(self):
        answers = [None] * 4

        def solve(k):
            frame = self.data.selectExpr("features", f"{k + 1} * label label")
            answers[k] = sparqr.solve(frame).x[0]

        threads = [threading.Thread(target=solve, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for k, answer in enumerate(answers):
            self.assertAlmostEqual(answer, (k + 1) * 96 / 55, places=12)


if __name__ == "__main__":
    unittest.main()
