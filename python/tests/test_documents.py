# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The Python in the documents parses, and its calls use existing names and parameters."""

import ast
import contextlib
import inspect
import io
import os
import pathlib
import re
import unittest
import zlib

import sparqr
from tests.spark import SparkTest, require

HOME = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def snippets():
    """Pairs of page and snippet."""
    pages = [HOME / "README.md", HOME / "python" / "README.md", *sorted((HOME / "docs" / "guide").glob("*.md"))]
    for page in pages:
        for found in FENCE.findall(page.read_text()):
            yield page.relative_to(HOME), found


def called(node):
    """The name called by ``sparqr.name(...)``, or None."""
    f = node.func
    if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id == "sparqr":
        return f.attr
    return None


def keywords(name):
    """The keywords that a call of ``sparqr.name`` may have, or None if any name is allowed."""
    function = getattr(sparqr, name)
    parameters = inspect.signature(function).parameters.values()
    names = {p.name for p in parameters if p.kind is not p.VAR_KEYWORD}
    rest = next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), None)
    # feols takes others only to refuse them with advice, session takes the settings of Spark
    return names if rest in (None, "others") else None


class DocumentsTest(unittest.TestCase):
    @unittest.skipUnless((HOME / "docs").is_dir(), "a package without its repository")
    def test_snippets(self):
        calls = 0
        for page, text in snippets():
            with self.subTest(page=str(page), snippet=text):
                for node in ast.walk(ast.parse(text)):
                    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sparqr":
                        self.assertIn(node.attr, [*sparqr.__all__, "ml"])
                    if isinstance(node, ast.Call) and called(node):
                        calls += 1
                        known = keywords(called(node))
                        for word in node.keywords if known is not None else ():
                            self.assertIn(word.arg, known)
        self.assertGreater(calls, 15)

    @unittest.skipUnless((HOME / "docs").is_dir(), "a package without its repository")
    def test_wrong_keywords_are_found(self):
        self.assertIn("vcov", keywords("feols"))
        self.assertNotIn("cluster", keywords("feols"))
        self.assertNotIn("others", keywords("feols"))
        self.assertIn("refinement", keywords("lstsq"))
        self.assertNotIn("refine", keywords("lstsq"))
        self.assertIsNone(keywords("session"))


SEED = os.environ.get("SPARQR_TEST_SEED")


def sampled(page):
    """Whether it is the page's turn: one in six under a seed, and the README; all without a seed."""
    return SEED is None or page.name == "README.md" or zlib.crc32(f"{SEED} {page}".encode()) % 6 == 0


class PastedTest(SparkTest):
    """Every page's Python runs as pasted, from its top to its end, in one session in the repository's root."""

    @classmethod
    def setUpClass(cls):
        require("numpy", "pandas", "pyarrow", "scipy")
        if not (HOME / "docs").is_dir():
            raise unittest.SkipTest("a package without its repository")
        super().setUpClass()

    def test_pages(self):
        pages = {}
        for page, text in snippets():
            if ".remote(" not in text:  # needs a server: test_connect has one
                pages.setdefault(page, []).append(text)
        self.assertGreaterEqual(len(pages), 7)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(HOME)
        for page, texts in pages.items():
            if not sampled(page):
                continue
            with self.subTest(page=str(page)):
                names = {"folder": self.path(page.stem)}
                for text in texts:
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(compile(text, str(page), "exec"), names)


if __name__ == "__main__":
    unittest.main()
