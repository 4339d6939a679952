# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Spark Connect: calls and answers when Python has no JVM but talks to a server.

The server runs Spark ML stages and answers with tables. A call without a stage of its own goes through
``io.sparqr.spark.connect.Solve``. A result that is not a table is requested as one, with rows of name, part,
text and numbers (``io.sparqr.spark.python.Parcels``); arrays of doubles are sent as bytes.
"""

import atexit
import json
import re
import uuid
import weakref
from math import isfinite
from typing import Any, Callable, Dict, List, Optional, Sequence

from sparqr import _report
from sparqr._errors import SparqrError
from sparqr._jvm import decode
from sparqr._version import JAR

_SOLVE = "io.sparqr.spark.connect.Solve"
_VARIABLES = "io.sparqr.spark.connect.FormulaVariables"

_MISSING = (
    "Sparqr's jar is missing on the server of Spark Connect: add it to your session by "
    f'spark.addArtifacts("path/to/{JAR}"), or start the server with it, --jars path/to/{JAR}'
)

# Prefix that the server puts before the message of an exception whose class is unknown to Python.
_NAMED = re.compile(r"\(((?:[a-z_0-9]+\.)+[\w$]+)\) ?(.*)", re.DOTALL)
_OURS = "io.sparqr.error."

# The wrapper of whatever a method threw that a server calls by reflection. One of Spark 4.0 tells of no more.
_WRAPPER = "java.lang.reflect.InvocationTargetException"
_NOT_TOLD = (
    "this failed on the server of Spark Connect, which does not tell why, as one of Spark 4.0 does not where it calls a "
    "model's method: the reason is in its log"
)
_CAUSE = re.compile(r"^Caused by: (?:\w+\.)*(\w+): (.*)$", re.MULTILINE)
_SIMPLE = re.compile(r"JVM stacktrace:\s+((?:\w+\.)*(\w+))[^\n]*\n\s+at io\.sparqr\.")
_STACK = re.compile(r"\n\s*\n?JVM stacktrace:.*", re.DOTALL)


def is_connect() -> bool:
    """Whether this Python uses Spark Connect."""
    try:
        from pyspark.sql.utils import is_remote
    except ImportError:
        return False
    return is_remote()


def is_connect_type(kind: type) -> bool:
    """Whether a type belongs to PySpark's client of Spark Connect."""
    return any(c.__module__.startswith("pyspark.sql.connect.") for c in kind.__mro__)


def active_session() -> Any:
    """The client's session of this thread; RuntimeError if there is none."""
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise RuntimeError(
            'no Spark session: start one first, SparkSession.builder.remote("sc://host:15002").getOrCreate()'
        )
    return session


def call(session: Any, work: Callable[[], Any]) -> Any:
    """``work()``; on an interrupt, the work already started on the server is stopped, too."""
    tag = f"sparqr-{uuid.uuid4()}"
    session.addTag(tag)
    try:
        return work()
    except KeyboardInterrupt:
        # Operations left behind by the client would run on at the server.
        session.interruptTag(tag)
        raise
    finally:
        session.removeTag(tag)


def told(e: BaseException) -> Optional[Exception]:
    """The error to raise for an exception of the client; None if it may pass."""
    if not type(e).__module__.startswith("pyspark.errors.exceptions.connect"):
        return None
    whole = str(e)
    text = _STACK.sub("", whole)
    if "Unsupported ML operator" in text or "Unsupported read for" in text:
        if "sparqr" in text:
            return RuntimeError(_MISSING)
    named = _NAMED.search(text)
    name, message = named.groups() if named else ("", text)
    if name.startswith(_OURS):
        return SparqrError(_line(message), name[len(_OURS) :])
    if name == _WRAPPER:
        causes = _CAUSE.findall(e.getStackTrace() or "") if hasattr(e, "getStackTrace") else []
        kind, message = causes[-1] if causes else ("NotTold", _NOT_TOLD)
        return SparqrError(_line(message), kind)
    if name == "java.lang.OutOfMemoryError" or "OutOfMemoryError" in text:
        return SparqrError(
            "the server of Spark Connect ran out of memory: start it with more, by --driver-memory",
            "OutOfMemoryError",
        )
    if "OPERATION_CANCELED" in text:
        return SparqrError("this was interrupted on the server", "Interrupted")
    if "CONNECT_ML.CACHE_INVALID" in text or "MODEL_SUMMARY_LOST" in text:
        return SparqrError(
            "the server of Spark Connect has let this model go: fit it again, or load it if it was saved",
            "ModelLost",
        )
    if "no training summary" in text:
        return SparqrError(
            "the server of Spark Connect has let this model's summary go, as it does with what was not "
            "asked for in 15 minutes: fit it again; before the first fit of a session, "
            "spark.connect.session.connectML.mlCache.memoryControl.offloadingTimeout sets the minutes",
            "SummaryLost",
        )
    thrown = _SIMPLE.search(whole)
    return SparqrError(_line(message), thrown.group(2)) if thrown else None


def explain_load(session: Any, path: str, e: SparqrError, expected: str) -> None:
    """Raises why nothing of a class was loaded from a path, if that can be seen and the server did not tell.

    Parameters
    ----------
    session : pyspark.sql.connect.session.SparkSession
        The session.
    path : str
        As the server sees it.
    e : SparqrError
        What the server told.
    expected : str
        The full name of the class.
    """
    if e.kind != "NotTold":
        return
    # Spark says so if there is nothing
    found = json.loads(session.read.text(path.rstrip("/") + "/metadata").first().value)["class"]
    if found != expected:
        raise ValueError(f"{path} has a {found.split('.')[-1]}, not a {expected.split('.')[-1]}")


# PySpark's references to models on the server.
_references: Any = weakref.WeakSet()


def note_reference(reference: Any) -> None:
    """Prevents a model that is still alive when Python ends from blocking the exit.

    PySpark 4.1 tells the server to delete a model when its last Python object is gone. If the traceback of an
    error keeps the object alive, this happens so late that the call waits forever for a thread to start. The
    server deletes the model with the session anyway.
    """
    # by its name: a Java object of a classic session claims to have any attribute
    if type(reference).__name__ == "RemoteModelRef":
        _references.add(reference)


@atexit.register
def _keep_references() -> None:
    for reference in list(_references):
        reference.add_ref()


def _line(message: str) -> str:
    return " ".join(message.split())


def table(name: str, params: Dict[str, Any], child: Any, session: Any, model: Any = None) -> Any:
    """The DataFrame that a stage on the server makes from another one, computed on collection.

    Parameters
    ----------
    name : str
        The transformer's class, or the server's name of a model.
    params : dict
        Params by name.
    child : pyspark.sql.connect.dataframe.DataFrame
        The input.
    session : pyspark.sql.connect.session.SparkSession
        The session of both.
    model : object, optional
        The Python model behind the name. It is kept alive with the DataFrame, because the server deletes its
        model together with the Python object.
    """
    from pyspark.ml.connect.proto import TransformerRelation
    from pyspark.ml.connect.serialize import serialize_param
    from pyspark.sql.connect import proto
    from pyspark.sql.connect.dataframe import DataFrame

    sent = {key: serialize_param(value, session.client) for key, value in params.items()}
    plan = TransformerRelation(
        child=child._plan,
        name=name,
        ml_params=proto.MlParams(params=sent),
        uid=f"sparqr_{uuid.uuid4().hex[:12]}",
        is_model=model is not None,
    )
    setattr(plan, "__source_transformer__", model)
    return DataFrame(plan, session)


def fit(name: str, params: Dict[str, Any], child: Any, session: Any) -> str:
    """Fits an estimator on the server; the server's name of its model, which lives until :func:`forget` or the end of
    the session.

    Parameters
    ----------
    name : str
        The estimator's class.
    params : dict
        Params by name.
    child : pyspark.sql.connect.dataframe.DataFrame
        The input.
    session : pyspark.sql.connect.session.SparkSession
        The session of both.
    """
    from pyspark.ml.connect.serialize import deserialize, serialize_param
    from pyspark.sql.connect import proto

    client = session.client
    sent = {key: serialize_param(value, client) for key, value in params.items()}
    kind = proto.MlOperator.OPERATOR_TYPE_ESTIMATOR
    command = proto.Command()
    command.ml_command.fit.CopyFrom(
        proto.MlCommand.Fit(
            estimator=proto.MlOperator(name=name, uid=f"sparqr_{uuid.uuid4().hex[:12]}", type=kind),
            params=proto.MlParams(params=sent),
            dataset=child._plan.plan(client),
        )
    )
    properties = client.execute_command(command)[1]
    return deserialize(properties).obj_ref.id


def forget(session: Any, model: str) -> None:
    """Deletes a model on the server."""
    session.client._delete_ml_cache([model])


def parcels(frame: Any) -> Dict[str, Any]:
    """Decodes rows of name, part, text and numbers into texts and arrays of doubles by name."""
    texts: Dict[str, str] = {}
    parts: Dict[str, Dict[int, bytes]] = {}
    for row in frame.collect():
        if row.text is not None:
            texts[row.name] = row.text
        else:
            parts.setdefault(row.name, {})[row.part] = bytes(row.numbers)
    arrays = {name: decode(b"".join(p[k] for k in sorted(p))) for name, p in parts.items()}
    return {**texts, **arrays}


def solve(df: Any, columns_of: Any, options: Dict[str, Any]) -> Any:
    """Solves on the server: the report, and a solution for each label column.

    Parameters
    ----------
    df : pyspark.sql.connect.dataframe.DataFrame
        The rows.
    columns_of : tuple of (str, str, list of str)
        Features column, weight column or "", label columns.
    options : dict
        Options by their names in Java.

    Returns
    -------
    tuple of (dict, list of array, str)
        The JSON report, x of shape (n,) for each label column, and the report's page, if there is one.
    """
    features, weight, labels = columns_of
    params: Dict[str, Any] = {"featuresCol": features, "labelCols": list(labels)}
    if weight:
        params["weightCol"] = weight
    params["options"] = option_words(options)
    session = df.sparkSession
    found = parcels(table(_SOLVE, params, df, session))
    vectors: List[Any] = [found[str(k)] for k in range(len(labels))]
    return _report.read(found["report"]), vectors, found["page"]


def option_words(options: Dict[str, Any]) -> List[str]:
    """Options of a solver, by their names in Java, each as ``name=value``."""
    return [f"{name}={_word(value)}" for name, value in options.items()]


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not isfinite(value):
        return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
    return repr(value) if isinstance(value, float) else str(value)


def model_frame(model: Any, params: Dict[str, Any], data: Any = None) -> Any:
    """The DataFrame selected by a model's params, above all ``output``; data if that output reads any."""
    session = active_session()
    rows = session.range(0) if data is None else data
    return table(str(model._java_obj), params, rows, session, model=model)


def variables(session: Any, formula: str, columns: Sequence[str]) -> List[Any]:
    """Role, name, function and column of each variable of a formula, from the server.

    Parameters
    ----------
    session : pyspark.sql.connect.session.SparkSession
        The session.
    formula : str
        R's formula.
    columns : sequence of str
        The columns that a dot stands for.
    """
    # without rows, so the plan is one line whatever the number of columns
    fields = ", ".join("`" + name.replace("`", "``") + "` INT" for name in columns)
    nothing = session.createDataFrame([], fields or "none INT")
    found = table(_VARIABLES, {"formula": formula}, nothing, session)
    return [tuple(row) for row in found.collect()]
