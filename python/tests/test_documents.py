# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The Python in the documents parses, and its calls use existing names and parameters."""

import ast
import inspect
import pathlib
import re
import unittest

import sparqr

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
                        parameters = inspect.signature(getattr(sparqr, called(node))).parameters.values()
                        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
                            for word in node.keywords:
                                self.assertIn(word.arg, [p.name for p in parameters])
        self.assertGreater(calls, 15)


if __name__ == "__main__":
    unittest.main()
