# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""sparqr.session when a session already runs, and its refusals; programs/installed.py starts a new one."""

import importlib
import inspect
import pathlib
import sys
import unittest
import unittest.mock
import warnings

import sparqr
from sparqr._session import _settings, _this_python, _with_ours
from tests import spark as with_spark
from tests.spark import SparkTest


class SettingsTest(unittest.TestCase):
    def test_what_is_asked_for_comes_by_sparks_names(self):
        conf = {"spark_ui_enabled": False, "spark.executor.cores": 2, "spark_app_name": "mine"}
        found = _settings("local[3]", "2g", conf)
        self.assertEqual(
            found,
            {
                "spark.master": "local[3]",
                "spark.driver.memory": "2g",
                "spark.ui.enabled": "false",
                "spark.executor.cores": "2",
                "spark.app.name": "mine",
            },
        )

    def test_what_is_no_setting_is_refused(self):
        for conf in ({"ui_enabled": True}, {"memory.driver": "2g"}, {"sparkle": 1}):
            with self.assertRaisesRegex(ValueError, "is not a setting of Spark: these begin with spark"):
                _settings(None, None, conf)
        with self.assertRaisesRegex(ValueError, "^spark_app_name is None: leave it out"):
            _settings(None, None, {"spark_app_name": None})
        with self.assertRaisesRegex(TypeError, "^memory is 8, not a string such as '8g'$"):
            sparqr.session(memory=8)
        with self.assertRaisesRegex(TypeError, r"^master is 4, not a string such as 'local\[\*\]'$"):
            sparqr.session(4)

    def test_jars_and_java_options_are_added_to_ours(self):
        if not with_spark.jar().exists():
            self.skipTest("no jar")
        mine = {"spark.jars": "a.jar,b.jar", "spark.driver.extraJavaOptions": "-Dx=y"}
        found = _with_ours(mine)
        self.assertEqual(found["spark.jars"], f"{sparqr.jar()},a.jar,b.jar")
        self.assertEqual(found["spark.driver.extraJavaOptions"], "-XX:+UseParallelGC -Dx=y")
        self.assertEqual(found["spark.master"], "local[*]")
        mine = "-Dx=y -XX:+UseG1GC"
        found = _with_ours({"spark.driver.extraJavaOptions": mine})
        self.assertEqual(found["spark.driver.extraJavaOptions"], mine, "a JVM takes one collector")
        self.assertEqual(_with_ours({})["spark.jars"], sparqr.jar())

    def test_a_local_session_has_a_partition_a_core_and_no_bars(self):
        if not with_spark.jar().exists():
            self.skipTest("no jar")
        partitions = "spark.sql.shuffle.partitions"
        for master, cores in (("local[3]", "3"), ("local[3,2]", "3"), ("local", "1"), ("yarn", None), ("local-cluster[2,1,512]", None)):
            found = _with_ours({"spark.master": master})
            self.assertEqual(found.get(partitions), cores, master)
            self.assertEqual(found["spark.ui.showConsoleProgress"], "false")
        self.assertEqual(_with_ours({"spark.master": "local[3]", partitions: "7"})[partitions], "7")

    def test_the_workers_of_a_local_session_run_this_python(self):
        name = "PYSPARK_PYTHON"
        with unittest.mock.patch.dict(with_spark.os.environ):
            with_spark.os.environ.pop(name, None)
            with _this_python({"spark.master": "local[*]"}):
                self.assertEqual(with_spark.os.environ[name], sys.executable)
            self.assertNotIn(name, with_spark.os.environ)
            for settings in ({"spark.master": "yarn"}, {"spark.master": "local", "spark.pyspark.python": "/x"}):
                with _this_python(settings):
                    self.assertNotIn(name, with_spark.os.environ)
            with_spark.os.environ[name] = "/mine"
            with _this_python({"spark.master": "local"}):
                self.assertEqual(with_spark.os.environ[name], "/mine")

    def test_the_jar_is_the_one_that_is_tested(self):
        self.assertEqual(pathlib.Path(sparqr.jar()).name, sparqr._version.JAR)
        if "SPARQR_JAR" not in with_spark.os.environ:
            self.assertTrue(with_spark.jar().samefile(sparqr.jar()))


class QuietTest(unittest.TestCase):
    def test_errors_come_without_javas_traces(self):
        with_spark.require()
        process = with_spark.start("quiet")
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        said = out.splitlines()
        self.assertEqual(said[0], "True 2", out)
        self.assertEqual(len(said), 6, out)
        self.assertIn("NaN", said[1])
        self.assertEqual(said[3], "ValueError no column nosuch; there are label, features")
        self.assertEqual(said[4], "RuntimeError")
        for trace in ("\tat ", "ERROR", "Traceback", "Exception"):
            self.assertNotIn(trace, err)


class SessionTest(SparkTest):
    def test_the_session_that_runs_is_returned(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertIs(sparqr.session(), self.spark)
            self.assertIs(sparqr.session("local[2]", memory="1g"), self.spark)
            theirs = {"spark.jars": str(with_spark.jar()), "spark.driver.extraJavaOptions": "-XX:+UseSerialGC"}
            self.assertIs(sparqr.session(**theirs, spark_ui_enabled=False), self.spark)

    def test_what_can_be_changed_is(self):
        name = "spark.sql.shuffle.partitions"
        before = self.spark.conf.get(name)
        self.addCleanup(self.spark.conf.set, name, before)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sparqr.session(**{name: 7})
        self.assertEqual(self.spark.conf.get(name), "7")

    def test_what_cannot_be_changed_is_said(self):
        with self.assertWarns(UserWarning) as said:
            found = sparqr.session(
                "local[5]", memory="9g", spark_executor_cores=3, spark_driver_extraJavaOptions="-Dx=y"
            )
        self.assertIs(found, self.spark)
        self.assertEqual(said.filename, __file__)
        text = str(said.warning)
        for part in (
            "spark.master is local[2], not local[5]",
            "spark.driver.memory is 1g, not 9g",
            "spark.executor.cores is not set, not 3",
            "spark.driver.extraJavaOptions lacks -Dx=y",
            "restart Python first (in a notebook: the kernel)",
        ):
            self.assertIn(part, text)
        self.assertEqual(self.spark.sparkContext.master, "local[2]")

    def test_what_is_public_has_types_and_numpy_docstrings(self):
        for module in (sparqr, importlib.import_module("sparqr.ml")):
            for name in module.__all__:
                found = getattr(module, name)
                if inspect.isclass(found):
                    own = [f for n, f in vars(found).items() if not n.startswith("_")]
                    for one in own:
                        self.check_types(found, getattr(one, "fget", one))
                elif callable(found):
                    self.check_types(module, found)
                    parameters = inspect.signature(found).parameters
                    self.assertEqual("Parameters\n" in found.__doc__, bool(parameters), name)
                    self.assertIn("Returns\n-------\n", inspect.getdoc(found), name)

    def check_types(self, where, found):
        found = inspect.unwrap(getattr(found, "__func__", found))
        if not inspect.isfunction(found):
            return
        name = f"{where.__name__}.{found.__name__}"
        self.assertTrue(found.__doc__, f"{name} has no docstring")
        parameters = [p for p in inspect.signature(found).parameters if p not in ("self", "cls")]
        for each in (*parameters, "return"):
            self.assertIn(each, found.__annotations__, name)


if __name__ == "__main__":
    unittest.main()
