# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Progress of a solve by flops done, as a bar of tqdm's or as lines."""

from __future__ import annotations

import contextvars
import math
import sys
import threading
import time
import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from sparqr._jvm import java_class

# Seconds between two looks at the JVM, and of silence at the beginning.
_LOOK = 0.5
_QUIET = 2.0


@dataclass(frozen=True)
class Progress:
    """A state of a solve.

    Attributes
    ----------
    phase : str
        "pattern", "analyze", "executors", "plan", "rows", "factorize", "solve", "check", "errors" or
        "done"; empty before the first.
    detail : str
        One readable line.
    fraction : float
        Part of the phase that is done, in [0, 1].
    elapsed : float
        Seconds since the solve began.
    flops_done, flops : float
        Of the factorization; 0 in other phases.
    remaining : float
        Seconds of the phase at the pace so far; NaN where that is not known.
    """

    phase: str
    detail: str
    fraction: float
    elapsed: float
    flops_done: float
    flops: float
    remaining: float

    @staticmethod
    def parse(line: str) -> Progress:
        """Of a line of Java's ``ProgressState``."""
        phase, detail, *numbers = line.split("\t")
        return Progress(phase, detail, *map(float, numbers))


def wanted(progress: bool | None) -> bool:
    """Whether progress is shown; None: in a notebook and on a terminal, of calls of the main thread."""
    if progress is not None:
        if progress not in (True, False):
            raise TypeError(f"progress {progress!r} is neither True nor False nor None")
        return bool(progress)
    if threading.current_thread() is not threading.main_thread():
        # bars of calls at once, a cross-validation's say, would write over each other
        return False
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    here = shell.get_ipython()
    return here is not None and getattr(here, "kernel", None) is not None


def showing(jvm: Any, shows: bool, listener: Any = None) -> AbstractContextManager[Shown | None]:
    """:class:`Shown` as a context, or None where nothing is shown."""
    return Shown(jvm, listener) if shows else nullcontext()


class Shown:
    """Shows a solve's progress from a thread of its own, as a context.

    Parameters
    ----------
    jvm : py4j.java_gateway.JVMView
        Of the session.
    listener : py4j.java_gateway.JavaObject, optional
        Of an earlier call, whose factorization goes on telling it. Default: a new one.

    Attributes
    ----------
    listener : py4j.java_gateway.JavaObject
        For the builder of the solver.
    """

    def __init__(self, jvm: Any, listener: Any = None) -> None:
        self.listener = listener or java_class(jvm, "io.sparqr.spark.python.ProgressState")()
        self._began = time.monotonic()
        self._before = self.listener.line() if listener else ""
        self._ended = threading.Event()
        self._bar = _bar()
        # with the caller's variables: a notebook knows by them which cell prints
        run = contextvars.copy_context().run
        self._thread = threading.Thread(
            target=run, args=(self._watch,), name="sparqr-progress", daemon=True
        )

    def __enter__(self) -> Shown:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        from sparqr._calls import close_connection

        try:
            while not self._ended.wait(_LOOK):
                now = self._now()
                if now is not None and time.monotonic() - self._began >= _QUIET:
                    self._bar.show(now)
            self._bar.close(self._now())
        except Exception:
            # No JVM, no progress: the solve itself says what is wrong.
            self._bar.close(None)
        finally:
            close_connection()


    def _now(self) -> Progress | None:
        """The last that was heard in this call; None: nothing yet."""
        line = self.listener.line()
        now = Progress.parse(line)
        return now if now.phase and line != self._before else None


def _bar() -> Any:
    try:
        with warnings.catch_warnings():
            # of a notebook without widgets, where tqdm prints text
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return _Lines()
    return _Tqdm(tqdm)


class _Tqdm:
    """A bar of flops; the phases before and after the factorization are its description."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._made: Any = None

    def show(self, now: Progress) -> None:
        if self._made is None:
            # the bar's own rate would count from its first sight: what is left is ours to say
            form = "{desc}: {percentage:3.0f}%|{bar}| {postfix}"
            self._made = self._tqdm(total=1.0, bar_format=form, leave=False)
        self._made.set_description(now.phase, refresh=False)
        self._made.set_postfix_str(told(now), refresh=False)
        self._made.n = now.fraction
        self._made.refresh()

    def close(self, now: Progress | None) -> None:
        if self._made is not None:
            if now is not None:
                self.show(now)
            self._made.close()


class _Lines:
    """One line on standard error, rewritten in place on a terminal."""

    def __init__(self) -> None:
        self._width = 0
        self._last = -math.inf

    def show(self, now: Progress) -> None:
        in_place = sys.stderr.isatty()
        if not in_place and now.elapsed - self._last < 5:
            return
        self._last = now.elapsed
        line = f"[{now.elapsed:6.1f} s] {now.phase}: {math.floor(100 * now.fraction)}%, {told(now)}"
        if in_place:
            sys.stderr.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def close(self, now: Progress | None) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


def told(now: Progress) -> str:
    """Such as ``1.2 of 3.4 TFLOP, about 40 s left``; outside of the factorization the detail."""
    if now.flops <= 0:
        return now.detail
    units = ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"]
    k = min(len(units) - 1, max(0, int(math.log10(now.flops) // 3))) if now.flops >= 1 else 0
    text = f"{now.flops_done / 1000**k:.1f} of {now.flops / 1000**k:.1f} {units[k]}"
    if now.remaining >= 0:
        seconds = round(now.remaining)
        hours, minutes = seconds // 3600, seconds // 60 % 60
        clock = f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"
        text += f", about {f'{seconds} s' if seconds < 60 else clock} left"
    return text
