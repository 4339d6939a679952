# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Progress of a solve in flops, as a tqdm bar or as lines of text."""

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

# Seconds between two checks of the JVM's progress, and before anything is shown.
_LOOK = 0.5
_QUIET = 2.0


@dataclass(frozen=True)
class Progress:
    """Progress of a solve at one moment.

    Attributes
    ----------
    phase : str
        "pattern", "analyze", "executors", "plan", "rows", "factorize", "solve", "check", "errors" or
        "done"; empty before the first phase.
    detail : str
        One readable line.
    fraction : float
        Completed part of the phase, in [0, 1].
    elapsed : float
        Seconds since the solve began.
    flops_done, flops : float
        Flops of the factorization; 0 in other phases.
    remaining : float
        Remaining seconds of the phase at the pace so far; NaN if unknown.
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
        """Parses a line of Java's ``ProgressState``."""
        phase, detail, *numbers = line.split("\t")
        return Progress(phase, detail, *map(float, numbers))


def wanted(progress: bool | None) -> bool:
    """Whether to show progress; None: in a notebook or on a terminal, for calls on the main thread."""
    if progress is not None:
        if progress not in (True, False):
            raise TypeError(f"progress {progress!r} is neither True nor False nor None")
        return bool(progress)
    if threading.current_thread() is not threading.main_thread():
        # the bars of simultaneous calls, as in a cross-validation, would overwrite each other
        return False
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    here = shell.get_ipython()
    return here is not None and getattr(here, "kernel", None) is not None


def showing(jvm: Any, shows: bool, listener: Any = None) -> AbstractContextManager[Shown | None]:
    """:class:`Shown` as a context, or None if nothing is to be shown."""
    return Shown(jvm, listener) if shows else nullcontext()


class Shown:
    """Shows a solve's progress from a thread of its own, as a context.

    Parameters
    ----------
    jvm : py4j.java_gateway.JVMView
        View of the session's JVM.
    listener : py4j.java_gateway.JavaObject, optional
        Listener of an earlier call; its factorization keeps reporting to it. Default: a new one.

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
        # with the caller's context variables: from them a notebook knows which cell prints
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
            # No progress without the JVM; the solve itself will raise the error.
            self._bar.close(None)
        finally:
            close_connection()


    def _now(self) -> Progress | None:
        """The latest progress of this call; None before the first."""
        line = self.listener.line()
        now = Progress.parse(line)
        return now if now.phase and line != self._before else None


def _bar() -> Any:
    try:
        with warnings.catch_warnings():
            # from tqdm in a notebook without widgets, which falls back to text
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return _Lines()
    return _Tqdm(tqdm)


class _Tqdm:
    """A bar of flops; phases before and after the factorization appear in its description."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._made: Any = None

    def show(self, now: Progress) -> None:
        if self._made is None:
            self._made = self._tqdm(total=1.0, bar_format=self._form(now), leave=False)
        self._made.bar_format = self._form(now)
        self._made.n = now.fraction
        self._made.refresh()

    @staticmethod
    def _form(now: Progress) -> str:
        """The whole line but for percentage and bar: tqdm's own description and postfix come with a colon and a comma,
        and its remaining time from the rate since its first update."""
        before, after = (text.replace("{", "{{").replace("}", "}}") for text in (now.phase, told(now)))
        return f"{before}: {{percentage:3.0f}}%|{{bar}}| {after}"

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
    """For example ``1.2 of 3.4 TFLOP, about 40 s left``; outside the factorization the detail."""
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
