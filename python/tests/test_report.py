# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The page of a solve, and its progress."""

import io
import math
import pathlib
import sys
import unittest
from unittest import mock

from sparqr import _progress
from tests.spark import SparkTest


class ProgressWords(unittest.TestCase):
    """What is said of a state; no JVM."""

    def test_what_is_left_is_told(self):
        line = "factorize\tlevel 1 of 2\t0.25\t12.5\t1.5E12\t6.0E12\t{}"
        now = _progress.Progress.parse(line.format("3723.4"))
        self.assertEqual((now.phase, now.fraction, now.flops), ("factorize", 0.25, 6e12))
        self.assertEqual(_progress.told(now), "1.5 of 6.0 TFLOP, about 1:02:03 left")
        now = _progress.Progress.parse(line.format("NaN"))
        self.assertTrue(math.isnan(now.remaining))
        self.assertEqual(_progress.told(now), "1.5 of 6.0 TFLOP")
        now = _progress.Progress.parse("solve\tback substitution\t0.5\t20.0\t0.0\t0.0\tNaN")
        self.assertEqual(_progress.told(now), "back substitution")

    def test_by_default_it_is_shown_to_people_alone(self):
        with mock.patch.object(sys, "stderr", io.StringIO()):
            self.assertFalse(_progress.wanted(None))
            self.assertTrue(_progress.wanted(True))
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        with mock.patch.object(sys, "stderr", terminal):
            self.assertTrue(_progress.wanted(None))
            self.assertFalse(_progress.wanted(False))
        kernel = mock.Mock()
        with mock.patch.dict(sys.modules, {"IPython": kernel}):
            self.assertTrue(_progress.wanted(None))
        with self.assertRaisesRegex(TypeError, "progress 'yes'"):
            _progress.wanted("yes")

    def test_a_terminal_gets_one_line_and_loses_it(self):
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        now = _progress.Progress("factorize", "level 1", 0.999, 7.0, 1.2e9, 3.4e9, 5.0)
        with mock.patch.object(sys, "stderr", terminal):
            lines = _progress._Lines()
            lines.show(now)
            shown = terminal.getvalue()
            lines.close(now)
        self.assertEqual(shown, "\r[   7.0 s] factorize: 99%, 1.2 of 3.4 GFLOP, about 5 s left")
        self.assertTrue(terminal.getvalue().endswith("\r" + " " * (len(shown) - 1) + "\r"))


class Recorder:
    """A bar that remembers."""

    def __init__(self):
        self.shown, self.closed = [], []

    def show(self, now):
        self.shown.append(now)

    def close(self, now):
        self.closed.append(now)


class Pages(SparkTest):
    """In a session."""

    def test_the_page_is_there_where_it_was_asked_for(self):
        import sparqr

        result = sparqr.solve(self.data, profile=True)
        path = self.path("report.html")
        page = result.to_html(path)
        self.assertEqual(pathlib.Path(path).read_text(encoding="utf-8"), page)
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertIn('"profile":{"beganMillis":', page)
        self.assertNotIn("page", repr(result))
        with self.assertRaisesRegex(ValueError, "profile=True"):
            sparqr.solve(self.data).to_html()

    def test_progress_goes_forward_to_the_end(self):
        import sparqr

        bar = Recorder()
        quick = mock.patch.multiple(_progress, _LOOK=0.01, _QUIET=0.0, _bar=lambda: bar)
        with quick:
            sparqr.solve(self.data, progress=True)
        self.assertTrue(bar.shown)
        self.assertEqual([(p.phase, p.fraction) for p in bar.closed], [("done", 1.0)])
        for before, after in zip(bar.shown, bar.shown[1:]):
            self.assertGreaterEqual(after.elapsed, before.elapsed)
            if before.phase == after.phase:
                self.assertGreaterEqual(after.fraction, before.fraction)

    def test_silent_where_nobody_is_to_see_it(self):
        import sparqr

        with mock.patch.object(_progress, "Shown", side_effect=AssertionError("shown")):
            sparqr.solve(self.data, progress=False)
