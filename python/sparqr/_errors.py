# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Turns failures in the JVM, or of the JVM, into one-line messages for people."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_OURS = "io.sparqr.error."
_DEPTH = 32

# Spark's exit codes: org.apache.spark.util.SparkExitCode.
_OUT_OF_MEMORY = 52
_KILLED = (-9, 137)

_MORE_MEMORY = (
    "give it more by spark.driver.memory, which counts when the JVM starts: restart Python "
    "(in a notebook: the kernel)"
)


class SparqrError(RuntimeError):
    """A request that Sparqr refuses or cannot fulfil: NaN in the input, a bad index, no CUDA device.

    Attributes
    ----------
    kind : str
        Name of the Java error, such as ``"NonFiniteValueException"`` or ``"OutOfMemoryError"``;
        ``"JvmEnded"`` if Spark or its JVM has ended, ``"Interrupted"`` if this fit was part of a
        cross-validation that was interrupted.
    java_trace : str
        Java's stack trace, for a report of a bug; empty if there is none.
    """

    def __init__(self, message: str, kind: str, java_trace: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.java_trace = java_trace

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        """Pickles the message, the kind and the trace."""
        return type(self), (str(self), self.kind, self.java_trace)


@contextmanager
def telling_errors() -> Iterator[None]:
    """Turns Java's errors, lack of memory and the loss of the JVM into SparqrError.

    PySpark's own errors (``AnalysisException`` and the like) pass, except errors that cannot be printed:
    they ask the JVM for their text.
    """
    try:
        yield
    except SparqrError:
        raise
    except Exception as e:
        told = _told(e)
        if told is None:
            raise
        raise told from None


def _told(e: Exception) -> Exception | None:
    """The error to raise for an exception: a SparqrError, or RuntimeError for a missing jar; None if it may pass."""
    if type(e).__module__ == "pyspark.errors.exceptions.connect":
        from sparqr import _connect

        return _connect.told(e)
    try:
        if _is_network(e) or (_is_of_gateway(e) and not _answers()):
            return _jvm_ended()
        thrown = getattr(e, "java_exception", None) or getattr(e, "_origin", None)
        for cause in _chain(thrown):
            name = cause.getClass().getName()
            if name.startswith(_OURS):
                return SparqrError(_first_line(cause.getMessage()), name[len(_OURS) :], _trace_of(thrown))
            if name == "java.lang.OutOfMemoryError":
                return _out_of_memory(cause)
        if thrown is not None and _is_stopped():
            return _stopped()
        str(e)
        return _of_java(thrown) if _is_raw(e) else None
    except Exception as second:
        return _jvm_ended() if _is_of_gateway(second) else None


def _is_raw(e: Exception) -> bool:
    """Whether an exception shows Java's whole stack trace as its text."""
    from py4j.protocol import Py4JJavaError

    return isinstance(e, Py4JJavaError)


def _of_java(thrown: Any) -> SparqrError:
    """An error of Java's or Spark's, by its deepest cause that says something."""
    causes = list(_chain(thrown))
    cause = next((c for c in reversed(causes) if _first_line(c.getMessage() or "")), causes[-1])
    name = cause.getClass().getSimpleName()
    message = _first_line(cause.getMessage() or "")
    return SparqrError(f"{name}: {message}" if message else name, name, _trace_of(thrown))


def _first_line(message: Any) -> str:
    lines = str(message).strip().splitlines()
    return lines[0] if lines else ""


def _trace_of(thrown: Any) -> str:
    """The stack trace of a Java exception."""
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    text = jvm.java.io.StringWriter()
    thrown.printStackTrace(jvm.java.io.PrintWriter(text, True))
    return str(text.toString())


def _chain(thrown: Any) -> Iterator[Any]:
    for _ in range(_DEPTH):
        if thrown is None:
            return
        yield thrown
        thrown = thrown.getCause()


def _is_network(e: Exception) -> bool:
    try:
        from py4j.protocol import Py4JNetworkError
    except ImportError:
        return False
    return isinstance(e, (Py4JNetworkError, ConnectionError))


def _is_of_gateway(e: Exception) -> bool:
    """Whether an exception means that the JVM did not answer, as opposed to an error in its answer."""
    try:
        from py4j.protocol import Py4JError, Py4JJavaError
    except ImportError:
        return False
    return _is_network(e) or (isinstance(e, Py4JError) and not isinstance(e, Py4JJavaError))


def _answers() -> bool:
    """Whether the JVM answers: a lost connection makes Py4J say that a class does not exist, too."""
    try:
        from pyspark import SparkContext

        jvm: Any = SparkContext._jvm
        jvm.java.lang.System.nanoTime()
        return True
    except Exception:
        return False


def _out_of_memory(cause: Any) -> SparqrError:
    heap = _heap_megabytes()
    of = "" if heap is None else f" of {heap:,} MB"
    return SparqrError(
        f"the driver's JVM ran out of memory ({cause.getMessage()}; a heap{of}): {_MORE_MEMORY}",
        "OutOfMemoryError",
    )


def _heap_megabytes() -> int | None:
    try:
        from pyspark import SparkContext

        jvm: Any = SparkContext._jvm
        return jvm.java.lang.Runtime.getRuntime().maxMemory() >> 20
    except Exception:
        return None


def _jvm_ended() -> SparqrError:
    code = _exit_code()
    if code == _OUT_OF_MEMORY:
        return SparqrError(f"Spark's JVM ran out of memory and ended: {_MORE_MEMORY}", "OutOfMemoryError")
    why = "" if code is None else f" (exit code {code})"
    if code in _KILLED:
        why = " (killed, as the system does with a process when the machine is out of memory)"
    return SparqrError(
        f"Spark's JVM does not answer any more{why}, and its session and what it held are lost: "
        "restart Python (in a notebook: the kernel)",
        "JvmEnded",
    )


def _is_stopped() -> bool:
    """Whether Spark has stopped in its JVM by itself: PySpark does not notice."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    return context is not None and context._jsc is not None and context._jsc.sc().isStopped()


def _stopped() -> SparqrError:
    """Spark stops shortly before its JVM ends."""
    if _exit_code() is not None:
        return _jvm_ended()
    return SparqrError(
        "Spark was stopped while this ran, and what its session held is lost: stop() the session and "
        "start another",
        "JvmEnded",
    )


def _exit_code() -> int | None:
    """The exit code of a JVM that PySpark started; None if unknown."""
    try:
        from pyspark import SparkContext

        process = getattr(SparkContext._gateway, "proc", None)
        # The socket closes shortly before the process can be waited for.
        return None if process is None else process.wait(timeout=2)
    except Exception:
        return None
