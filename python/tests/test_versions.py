# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""What is installed, what it asks for, and the table of versions in the documents. Without a JVM and without PySpark."""

import pathlib
import re
import subprocess
import sys
import unittest
import warnings

from sparqr import _pyspark

HOME = pathlib.Path(__file__).resolve().parents[2]
PYTHON = HOME / "python"

# In a Python where an import of PySpark fails, what a call says.
WITHOUT = """
import sys
sys.modules["pyspark"] = None
import sparqr
try:
    {call}
except ImportError as e:
    print(e)
"""


def pinned(what):
    """Versions by minor version of Spark, of the files that tests install PySpark (or its client) by."""
    versions = [p.name.removeprefix(f"{what}-").removesuffix(".txt") for p in (PYTHON / "tests").glob(f"{what}-*.txt")]
    return {v.rpartition(".")[0]: v for v in versions}


class RequirementsTest(unittest.TestCase):
    project = (PYTHON / "pyproject.toml").read_text()

    def asked(self, name):
        return re.search(rf'(?m)^{name} = \["(.*)"\]$', self.project).group(1)

    def test_a_plain_install_puts_no_pyspark_over_another(self):
        self.assertNotIn("pyspark", self.asked("dependencies"))

    def test_extras_bring_the_versions_that_were_tried(self):
        major, minor = map(int, _pyspark.TRIED[-1].split("."))
        versions = f">={_pyspark.TRIED[0]},<{major}.{minor + 1}"
        self.assertEqual(self.asked("classic"), f"pyspark{versions}")
        self.assertEqual(self.asked("connect"), f"pyspark-client{versions}")

    def test_every_extra_is_in_both_pages(self):
        extras = re.search(r"\[project.optional-dependencies\]\n((?:\w+ = .*\n)+)", self.project).group(1)
        names = re.findall(r"(?m)^(\w+) =", extras)
        self.assertIn("feols", names)
        for page in ("python/README.md", "docs/guide/python.md"):
            told = set(re.findall(r"sparqr\[(\w+)\]", (HOME / page).read_text()))
            self.assertEqual(told, set(names), page)


class VersionTest(unittest.TestCase):
    def said(self, call):
        command = [sys.executable, "-W", "ignore", "-c", WITHOUT.format(call=call)]
        top = pathlib.Path(_pyspark.__file__).parents[1]
        return subprocess.run(command, cwd=top, check=True, capture_output=True, text=True).stdout

    def test_a_missing_pyspark_is_told_in_a_line(self):
        for call in ("sparqr.session()", "import sparqr.ml", "sparqr.lstsq([[1.0]], [1.0])", "sparqr.analyze('gen:cells2d60')"):
            with self.subTest(call):
                try:
                    import numpy  # noqa: F401
                except ImportError:
                    if "lstsq" in call:
                        continue
                self.assertEqual(self.said(call), _pyspark.MISSING + "\n")

    def test_versions(self):
        def check(version):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                _pyspark._require.__wrapped__(version)
            return [str(w.message) for w in told]

        for version in (*_pyspark.TRIED, "4.1.4", "4.0.0.dev1", "nightly"):
            self.assertEqual(check(version), [], version)
        for version in ("4.4.0", "4.10.1", "5.0.0"):
            self.assertRegex("".join(check(version)), f"^PySpark {version} is newer than .* tested on .4.0 to 4.3.: it goes on")
        for version in ("3.5.9", "2.4.8"):
            with self.assertRaisesRegex(ImportError, f"^PySpark {version} is too old: Sparqr needs 4.0 or later"):
                check(version)


class TableTest(unittest.TestCase):
    """The table of versions is that of the files by which the tests run."""

    def test_the_table_of_versions(self):
        classic, client = pinned("pyspark"), pinned("client")
        pom = (HOME / "pom.xml").read_text()
        maven = {v.rpartition(".")[0]: v for v in re.findall(r"<spark\.version>(.*)</spark\.version>", pom)}
        rows = []
        for minor in _pyspark.TRIED:
            found = (minor, *(kind.get(minor, "–") for kind in (classic, client, maven)))
            rows.append(f"| {' | '.join(found)} |")
        page = (HOME / "docs" / "guide" / "versions.md").read_text()
        table = re.search(r"(?m)^\| Spark \|.*\n\|[-|]+\n((?:\|.*\n)+)", page).group(1)
        self.assertEqual(table.splitlines(), rows)
        self.assertEqual(set(classic), set(_pyspark.TRIED))

    def test_ci_runs_what_the_table_says(self):
        runs = (HOME / ".ci" / "run").read_text()
        named = set(re.search(r"(?m)^first=(\S+) others=\((.*)\)$", runs).group(0).replace("(", " ").replace(")", " ").split())
        versions = {w.rpartition("=")[2] for w in named if re.search(r"\d\.\d", w)}
        self.assertEqual(versions, set(pinned("pyspark").values()))


if __name__ == "__main__":
    unittest.main()
