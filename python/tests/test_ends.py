# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Calls that fail, in separate processes: the messages that a user reads."""

import json
import unittest

from sparqr._version import JAR
from tests import spark as with_spark

OUT_OF_MEMORY = (
    r"^Spark's JVM ran out of memory and ended: give it more by spark\.driver\.memory, .*"
    r"restart Python \(in a notebook: the kernel\)$"
)


class EndsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with_spark.require()

    def said(self, case):
        """The errors reported by the program; each must be printable and shorter than a page."""
        found = [json.loads(text) for text in with_spark.run("ends", case).splitlines()]
        for one in found:
            self.assertNotIn("str() failed", one.get("shown", ""), one)
            self.assertEqual(one.get("said", "").count("\n"), 0, one)
        return found

    def check_all_say(self, found, kind, pattern):
        self.assertGreaterEqual(len(found), 3)
        for one in found:
            self.assertEqual((one.get("type"), one.get("kind")), ("SparqrError", kind), one)
            self.assertRegex(one["said"], pattern)

    def test_out_of_memory(self):
        first, second, alive, task, *after = self.said("memory")
        for one in (first, second):
            self.assertEqual((one.get("type"), one.get("kind")), ("SparqrError", "OutOfMemoryError"), one)
            self.assertRegex(
                one["said"],
                r"^the driver's JVM ran out of memory \(Java heap space; a heap of \d+ MB\): "
                r"give it more by spark\.driver\.memory, .*restart Python",
            )
        self.assertAlmostEqual(float(alive["answer"].strip("np.float64()")), 96 / 55, places=12)
        # in local mode Spark ends the JVM; the task's own error may arrive first
        self.assertIn(task["kind"], ("OutOfMemoryError", "InsufficientMemoryException"), task)
        self.assertRegex(task["said"], r"ran out of memory.*spark\.driver\.memory")
        self.check_all_say(after, "OutOfMemoryError", OUT_OF_MEMORY)
        self.assertEqual(len(after), 8)

    def test_a_stopped_session_and_a_killed_jvm(self):
        during, *found = self.said("stopped_and_killed")
        self.assertEqual(during["kind"], "JvmEnded", during)
        self.assertRegex(during["said"], r"^Spark was stopped while this ran, .* start another$")
        for one in found[:2]:
            self.assertEqual((one["name"], one["type"]), ("stopped", "RuntimeError"), one)
            self.assertRegex(one["said"], r"^(this Spark session was stopped|no Spark session: start one first)")
        self.assertEqual(len(found), 13)
        self.assertEqual((found[2]["name"], found[2]["type"]), ("passes", "Py4JError"), found[2])
        self.check_all_say(
            found[3:],
            "JvmEnded",
            r"^Spark's JVM does not answer any more \(killed, .*restart Python \(in a notebook: the kernel\)$",
        )

    def test_what_a_stopped_session_had_made(self):
        with_spark.require("numpy", "scipy", "pandas", "pyarrow")
        said = {one["name"]: one for one in self.said("stopped")}
        self.assertEqual(said["before"].get("answer"), "(4,)", said["before"])
        for name in ("solve", "predict", "predict rows"):
            self.assertEqual(said[name].get("type"), "RuntimeError", said[name])
            self.assertEqual(said[name]["said"], "this Spark session was stopped")
        # a with statement ends well, and nothing starts another session
        for name in ("close", "again", "session"):
            self.assertEqual(said[name].get("answer"), "None", said[name])

    def test_a_missing_jar(self):
        *found, session = self.said("no_jar")
        self.assertEqual((session["name"], session.get("type")), ("session", "RuntimeError"), session)
        self.assertRegex(
            session["said"],
            r"^Spark's JVM runs already, without Sparqr's jar, .*: restart Python first .*sparqr\.session\(\)",
        )
        self.assertEqual([one["name"] for one in found], ["solve", "constructor", "load"])
        for one in found:
            self.assertEqual(one["type"], "RuntimeError", one)
            self.assertRegex(one["said"], r"^Sparqr's jar is missing: ")
            for part in ('config("spark.jars", ', JAR, "restart Python first (in a notebook: the kernel)"):
                self.assertIn(part, one["said"])


if __name__ == "__main__":
    unittest.main()
