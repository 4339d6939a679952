# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Tests without a JVM and without PySpark."""

import inspect
import pickle
import struct
import unittest
from unittest import mock

import sparqr
from sparqr import _connect, _display, _errors, _feols, _jvm, _solve
from sparqr._declared import FEOLS, FORMER, OPTIONS, REGRESSION


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
        parameters = inspect.signature(sparqr.solve).parameters.values()
        options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        # progress becomes a listener
        self.assertEqual(set(options) - {"progress"}, set(OPTIONS))
        plain = self.told()
        for name, option in OPTIONS.items():
            self.assertEqual(options[name], option.default, name)
            value = {bool: not option.default, int: 3, float: 0.25}.get(option.values, option.values)
            value = value[-1].upper() if isinstance(value, tuple) else value
            told = self.told(**{name: value})
            text = str(value).lower()
            self.assertNotEqual(plain.get(option.java), text, name)
            self.assertEqual(told.pop(option.java), text, name)
            self.assertEqual(told, {k: v for k, v in plain.items() if k != option.java}, name)

    def test_lstsq_and_factorize_name_every_option(self):
        for function in (sparqr.lstsq, sparqr.factorize):
            parameters = inspect.signature(function).parameters
            self.assertFalse([p for p in parameters.values() if p.kind is p.VAR_KEYWORD], function)
            for name, option in OPTIONS.items():
                self.assertEqual(parameters[name].default, option.default, (function, name))
                self.assertIn(name, inspect.getdoc(function))

    def test_errors_can_be_pickled(self):
        error = sparqr.SparqrError("row 3 is NaN", "NonFiniteValueException", "java...")
        again = pickle.loads(pickle.dumps(error))
        self.assertIs(type(again), sparqr.SparqrError)
        self.assertEqual((str(again), again.kind, again.java_trace), (str(error), error.kind, error.java_trace))

    def test_units_for_people(self):
        for count, text in ((0, "0 bytes"), (999, "999 bytes"), (9996, "10.0 kB"), (999_600, "1.00 MB"), (1.5e9, "1.50 GB")):
            self.assertEqual(_display.sized(count), text)
        for seconds, text in ((0.0123, "0.012 s"), (9.96, "10 s"), (599, "599 s"), (3599, "1 h 0 min"), (7500, "2 h 5 min")):
            self.assertEqual(_display.lasting(seconds), text)

    def test_numbers_as_java_reads_them(self):
        self.assertEqual(self.told(ridge=2)["ridge"], "2.0")
        self.assertEqual(self.told(rank_tolerance=float("inf"))["rankTolerance"], "Infinity")
        self.assertEqual(self.told(rank_tolerance=float("nan"))["rankTolerance"], "NaN")
        self.assertEqual(self.told(rank_tolerance=1e-300)["rankTolerance"], "1e-300")
        self.assertNotIn("rankTolerance", self.told(rank_tolerance=None))

    @staticmethod
    def told(**options):
        """The options that sparqr.solve passes to Java: name -> text."""

        class ArrayList(list):
            add = list.append

        words = ArrayList()
        jvm = mock.Mock()
        jvm.java.util.ArrayList = lambda: words
        frame = mock.Mock(_jdf=object(), columns=["label", "features"])
        frame.sparkSession._jvm = jvm
        support = mock.Mock()
        support.builder.side_effect = InterruptedError
        try:
            with mock.patch.object(_solve, "in_thread", lambda session, what, work: work()):
                with mock.patch.object(_solve, "java_class", lambda jvm, name: support):
                    sparqr.solve(frame, progress=False, **options)
        except InterruptedError:
            return dict(word.split("=") for word in words)
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

    def test_feols_has_the_declared_keywords(self):
        parameters = inspect.signature(sparqr.feols).parameters
        text = inspect.getdoc(sparqr.feols)
        for keyword, name in FEOLS.items():
            option = REGRESSION[name]
            given = parameters[keyword].default
            self.assertIn(given, [option.default] if option.default is not None else [None, (), parameters[keyword].empty])
            self.assertRegex(text, rf"(?m)^{keyword}[ ,]|, {keyword} :")
            for word in option.values if isinstance(option.values, tuple) and name != "vcov" else ():
                self.assertIn(f'"{word}"', text)
        solver = {"ordering", "backend", "method", "rank_tolerance", "profile"}
        own = {"data", "ssc", "fixef_rm", "progress", "others"}
        self.assertEqual(set(parameters), set(FEOLS) | solver | own)
        for keyword in solver:
            self.assertEqual(parameters[keyword].default, OPTIONS[keyword].default)

    def test_feols_takes_errors_by_the_estimators_words(self):
        for word in REGRESSION["vcov"].values:
            if word == "cluster":
                self.assertEqual(_feols.parsed_vcov({"CRV1": "a + b"}), ("CRV1", ["a", "b"]))
            else:
                self.assertEqual(_feols.parsed_vcov(word), (word, []))
        self.assertEqual(_feols.parsed_vcov("hetero"), ("HC1", []))

    def test_feols_takes_earlier_keywords(self):
        self.assertEqual(FORMER, {"reference_levels": ("references",), "keep_terms": ("keep",), "drop_terms": ("drop",)})
        others = {"keep": ["a"], "split": "b"}
        self.assertEqual(_feols._given(others, "keep_terms", ()), ["a"])
        self.assertEqual(others, {"split": "b"})
        self.assertEqual(_feols._given({}, "keep_terms", ["c"]), ["c"])
        with self.assertRaisesRegex(TypeError, "both keep_terms and keep, its earlier name"):
            _feols._given({"keep": ["a"]}, "keep_terms", ["c"])

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
