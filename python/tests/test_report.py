# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The page of a solve, and its progress display."""

import io
import math
import pathlib
import sys
import threading
import unittest
from unittest import mock

from sparqr import _progress
from tests.spark import SparkTest, require


class ProgressWords(unittest.TestCase):
    """The text for a state; no JVM."""

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

    def test_a_bar_says_each_thing_once(self):
        try:
            from tqdm import tqdm
        except ImportError:
            self.skipTest("no tqdm")
        out = io.StringIO()
        bar = _progress._Tqdm(lambda **options: tqdm(file=out, ncols=100, **options))
        bar.show(_progress.Progress("rows", "a {strange} text", 0.0, 3.0, 0.0, 0.0, math.nan))
        bar.show(_progress.Progress("factorize", "level 1", 0.5, 7.0, 0.6e9, 1.2e9, 5.0))
        lines = [line.strip() for line in out.getvalue().split("\r")]
        self.assertTrue([line for line in lines if line.startswith("rows:   0%|") and line.endswith("| a {strange} text")], lines)
        self.assertTrue([x for x in lines if x.startswith("factorize:  50%|") and x.endswith("| 0.6 of 1.2 GFLOP, about 5 s left")], lines)
        bar.close(None)

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
        with mock.patch.object(sys, "stderr", terminal):
            found = []
            thread = threading.Thread(target=lambda: found.append(_progress.wanted(None)))
            thread.start()
            thread.join()
        self.assertEqual(found, [False], "bars of several threads would write over each other")
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


class Shown:
    """Stands for a result that has this page."""

    def __init__(self, page):
        self.to_html = lambda: page


class Recorder:
    """A bar that records its updates."""

    def __init__(self):
        self.shown, self.closed = [], []

    def show(self, now):
        self.shown.append(now)

    def close(self, now):
        self.closed.append(now)


class Pages(SparkTest):
    """Pages made in a session."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        require("numpy", "scipy", "pandas", "pyarrow")
        import pandas

        # workers alone in a firm do not matter here
        years = [(w, y, 0.3 * w + y * y + (w * y) % 5) for w in range(6) for y in range(1, 6)]
        cls.table = pandas.DataFrame(years, columns=["worker", "year", "wage"])

    def calls(self):
        """By name, every way to get a page: a function that returns a result with one, given these options."""
        import numpy
        import sparqr
        from sparqr.ml import SparseQRRegression

        a, b = numpy.vander([1.0, 2, 3, 4], 2), numpy.array([1.0, 2, 2, 5])

        def factorized(**options):
            with sparqr.factorize(a, **options) as f:
                f.solve(b)
                return Shown(f.to_html() if options.get("profile") else "")

        def further(keep_q, **options):
            with sparqr.factorize(a, keep_q=keep_q, **options) as f:
                return f.solve(b)

        return {
            "solve": lambda **options: sparqr.solve(self.data, **options),
            "lstsq": lambda **options: sparqr.lstsq(a, b, standard_errors=True, **options),
            "least norm": lambda **options: sparqr.lstsq(a, b, minimum_norm=True, **options),
            "factorize": factorized,
            "further": lambda **options: further(True, **options),
            "semi-normal": lambda **options: further(False, **options),
            "feols": lambda **options: sparqr.feols("wage ~ year | worker", self.table, "HC1", **options),
            "ml": lambda **options: SparseQRRegression(**options).fit(self.data).summary,
        }

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

    def test_every_call_has_a_page_and_shows_its_progress(self):
        for name, call in self.calls().items():
            bars = []

            def bar():
                bars.append(Recorder())
                return bars[-1]

            with self.subTest(name), mock.patch.multiple(_progress, _LOOK=0.001, _QUIET=0.0, _bar=bar):
                page = call(profile=True, progress=True).to_html()
                self.assertTrue(page.startswith("<!DOCTYPE html>"))
                self.assertIn('"profile":{"beganMillis":', page)
                kept = name in ("factorize", "further", "semi-normal")
                self.assertEqual('{"name":"solve","detail":"by the ' in page, kept)
                self.assertEqual('{"name":"errors","detail"' in page, name in ("lstsq", "ml", "feols"))
                # a factorization reports its own progress, and each solve's
                self.assertEqual(len(bars), 2 if kept else 1)
                self.assertTrue({"pattern", "rows", "factorize"}.intersection(p.phase for p in bars[0].shown))
                last = [b.closed[-1] for b in bars]
                self.assertEqual([p.phase for p in last], ["factorize", "done"] if kept else ["done"])
                self.assertEqual(last[-1].fraction, 1.0)

    def test_neither_page_nor_progress_where_none_is_asked_for(self):
        calls = self.calls()
        with mock.patch.object(_progress, "Shown", side_effect=AssertionError("shown")):
            for name in ("lstsq", "feols", "ml"):
                with self.subTest(name), self.assertRaisesRegex(ValueError, "profile=True"):
                    calls[name](progress=False).to_html()
        for options in ({"profile": "yes"}, {"progress": "yes"}):
            with self.assertRaisesRegex(TypeError, "'yes' is neither True nor False"):
                calls["lstsq"](**options)

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
