# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Runs Java calls in threads of their own, so that an interrupt can cancel their jobs.

Ctrl-C reaches Python's main thread. If that thread were waiting for the JVM's answer, the interrupt would
break off the exchange on its socket: PySpark's own handler, which uses the same socket to ask the JVM to
cancel all jobs, then fails. So another thread makes the call and the main thread waits for it.
"""

from __future__ import annotations

import contextvars
import signal
import sys
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterator
from multiprocessing.pool import ThreadPool
from typing import Any, TypeVar

from sparqr import _connect
from sparqr._errors import SparqrError, telling_errors
from sparqr._pyspark import require_pyspark

# Seconds for an interrupted call to end; after that it is left to finish by itself.
_GRACE = 4.0

# Seconds between two checks for an interrupt, and between two requests to cancel.
_LOOK = 0.1
_REPEAT = 0.3

_here = threading.local()

_T = TypeVar("_T")


def in_thread(session: Any, what: str, work: Callable[[], _T]) -> _T:
    """``work()`` in a thread of its own, with the caller's local properties and in his job group.

    Jobs get a tag, and a job group if the caller has none. On an interrupt all jobs with the tag are
    cancelled, whatever their group, as are any that the call still starts; after at most five seconds the
    caller gets the KeyboardInterrupt.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        Its context runs the jobs.
    what : str
        Description of the jobs, for the Spark UI.
    work : callable
        Returns the result.
    """
    require_pyspark()
    if _connect.is_connect_type(type(session)):
        with telling_errors():
            return _connect.call(session, work)
    if getattr(_here, "inside", False):
        with telling_errors():
            return work()
    asker = _Asker.of_this_thread()
    if asker.is_gone():
        raise _abandoned()
    with _Interrupts() as interrupts:
        with telling_errors():
            call = _Call(session, what, work)
        call.start()
        try:
            while not call.ended.wait(_LOOK):
                if interrupts.count or asker.is_gone():
                    break
        except BaseException:  # by the user's own signal handler
            call.cancel(lambda: False)
            raise
        if interrupts.count:
            call.cancel(lambda: interrupts.count > 1)
            raise KeyboardInterrupt
        if not call.ended.is_set():
            call.cancel(lambda: False)
            raise _abandoned()
    return call.result()


def is_stopped(session: Any) -> bool:
    """Whether a session was stopped, or a client of Spark Connect closed."""
    if _connect.is_connect_type(type(session)):
        return bool(session.is_stopped)
    return session.sparkContext._jsc is None


def require_running(session: Any) -> None:
    """RuntimeError if the session was stopped."""
    if is_stopped(session):
        raise RuntimeError("this Spark session was stopped")


class _Call:
    """One call and its thread."""

    def __init__(self, session: Any, what: str, work: Callable[[], Any]) -> None:
        require_running(session)
        context = session.sparkContext
        self.ended = threading.Event()
        self._context, self._what = context, what
        self._work: Callable[[], Any] | None = work
        self._tag = f"sparqr-{uuid.uuid4()}"
        self._value: Any = None
        self._error: BaseException | None = None
        target = self._run
        if _is_pinned():
            from pyspark import inheritable_thread_target

            # copies the caller's properties here, on the caller's thread, and sets them on the new thread
            target = inheritable_thread_target(session)(self._run)
        self._thread = threading.Thread(
            target=self._guarded,
            args=(contextvars.copy_context(), target),
            name=self._tag,
            daemon=True,
        )

    def start(self) -> None:
        self._thread.start()

    def _guarded(self, variables: contextvars.Context, target: Callable[[], Any]) -> None:
        _here.inside = True
        try:
            with telling_errors():
                self._value = variables.run(target)
        except BaseException as e:
            self._error = e
        finally:
            self._work = None
            close_connection()
            self.ended.set()

    def _run(self) -> Any:
        assert self._work is not None
        if _is_pinned():
            self._prepare()
        return self._work()

    def _prepare(self) -> None:
        context = self._context
        if context.getLocalProperty("spark.jobGroup.id") is None:
            context.setJobGroup(self._tag, self._what)
        # Our tasks stop when interrupted; otherwise they would run to their end.
        context.setInterruptOnCancel(True)
        context.addJobTag(self._tag)

    def result(self) -> Any:
        """The result of the work; raises its exception."""
        self._thread.join()
        if self._error is None:
            return self._value
        try:
            raise self._error
        finally:
            self._error = None  # the exception refers to this frame, which refers to the exception

    def cancel(self, enough: Callable[[], bool]) -> None:
        """Cancels, and waits for the end until the time is up or enough() is true."""
        if not _is_pinned():
            return
        canceller = threading.Thread(target=self._keep_cancelling, name=self._tag, daemon=True)
        canceller.start()
        until = time.monotonic() + _GRACE
        while time.monotonic() < until and not enough():
            if self.ended.wait(_LOOK):
                self._thread.join()
                canceller.join(_GRACE)
                return

    def _keep_cancelling(self) -> None:
        """A call that is between two jobs, ordering columns for example, starts its next job later."""
        try:
            while not self.ended.is_set():
                self._context.cancelJobsWithTag(self._tag)
                self.ended.wait(_REPEAT)
        except Exception as e:
            # Without a JVM there is nothing to cancel.
            if self._context._jsc is not None and not self.ended.is_set():
                print(f"sparqr: the jobs could not be cancelled: {e!r}", file=sys.stderr)
        finally:
            close_connection()


def _is_pinned() -> bool:
    """Whether each Python thread has its own JVM thread (PYSPARK_PIN_THREAD, the default)."""
    from py4j.clientserver import ClientServer
    from pyspark import SparkContext

    return isinstance(SparkContext._gateway, ClientServer)


def close_connection() -> None:
    """Closes this thread's connection, which also ends its JVM thread."""
    if not _is_pinned():
        return
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    client = gateway._gateway_client
    connection = client.get_thread_connection()
    if connection is not None:
        connection.close()


class _Interrupts:
    """Counts interrupts while the main thread waits. On other threads, and under a handler that is neither
    Python's nor PySpark's, it does nothing.

    A handler may run between any two steps of the main thread, even in an exchange with the JVM, so this one
    only counts.
    """

    count = 0
    _before: Any = None

    def __enter__(self) -> _Interrupts:
        if threading.current_thread() is threading.main_thread():
            now = signal.getsignal(signal.SIGINT)
            if _is_pinned() and (now is signal.default_int_handler or _is_pysparks(now)):
                self._before = now
                signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, signum: int, frame: Any) -> None:
        self.count += 1

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


def _is_pysparks(handler: Any) -> bool:
    return getattr(handler, "__module__", None) in ("pyspark.core.context", "pyspark.context")


class _Asker:
    """Notices when the main thread no longer waits for this thread's pool.

    ``CrossValidator`` and its like fit in threads of a pool. The interrupt reaches only the main thread,
    which abandons the pool and its remaining work. The only sign of it in the pool's threads is that
    the pool is no longer waited for.
    """

    def __init__(self) -> None:
        me: Any = threading.current_thread()
        found = [pool for pool in _awaited_pools() if me in pool._pool]  # type: ignore[attr-defined]
        # a weak reference: a pool ends when it is garbage-collected
        self._pool = weakref.ref(found[0]) if found else None

    @staticmethod
    def of_this_thread() -> _Asker:
        """Computed once per thread: a pool's thread never changes its pool."""
        kept = getattr(_here, "asker", None)
        if kept is None or kept._pool is None:
            kept = _here.asker = _Asker()
        return kept

    def is_gone(self) -> bool:
        if self._pool is None:
            return False
        pool = self._pool()
        return all(p is not pool for p in _awaited_pools())


def _awaited_pools() -> Iterator[ThreadPool]:
    """The pools of functions of ``pyspark.ml`` that the main thread is running."""
    main = threading.main_thread()
    if threading.current_thread() is main:
        return
    frame = sys._current_frames().get(main.ident or 0)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("pyspark.ml."):
            pool = frame.f_locals.get("pool")
            if isinstance(pool, ThreadPool):
                yield pool
        frame = frame.f_back


def _abandoned() -> SparqrError:
    return SparqrError("what this fit was a part of was interrupted", "Interrupted")
