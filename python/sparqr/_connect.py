# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Spark Connect: calls and answers where Python has no JVM, but a server that it talks to.

The server runs Spark ML's stages, and answers by tables. So what has no stage of its own goes by one
(``io.sparqr.spark.connect.Solve``), and what is no table is asked for as one: rows of name, part, text
and numbers (``io.sparqr.spark.python.Parcels``), in which an array of doubles is its bytes.
"""

import atexit
import json
import re
import uuid
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence

from sparqr._errors import SparqrError
from sparqr._jvm import decode
from sparqr._version import JAR

_SOLVE = "io.sparqr.spark.connect.Solve"
_VARIABLES = "io.sparqr.spark.connect.FormulaVariables"

_MISSING = (
    "Sparqr's jar is missing on the server of Spark Connect: add it to your session by "
    f'spark.addArtifacts("path/to/{JAR}"), or start the server with it, --jars path/to/{JAR}'
)

# What the server writes before the message of an exception whose class Python has no match for.
_NAMED = re.compile(r"\(((?:[a-z_0-9]+\.)+[\w$]+)\) ?(.*)", re.DOTALL)
_OURS = "io.sparqr.error."
_SIMPLE = re.compile(r"JVM stacktrace:\s+((?:\w+\.)*(\w+))[^\n]*\n\s+at io\.sparqr\.")
_STACK = re.compile(r"\n\s*\n?JVM stacktrace:.*", re.DOTALL)


def is_connect() -> bool:
    """Whether this Python talks to Spark by Spark Connect."""
    try:
        from pyspark.sql.utils import is_remote
    except ImportError:
        return False
    return is_remote()


def is_connect_type(kind: type) -> bool:
    """Whether a type is of PySpark's client of Spark Connect."""
    return any(c.__module__.startswith("pyspark.sql.connect.") for c in kind.__mro__)


def active_session() -> Any:
    """The client's session of this thread; RuntimeError if there is none."""
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise RuntimeError("no Spark session: start one first")
    return session


def call(session: Any, work: Callable[[], Any]) -> Any:
    """``work()``; an interrupt ends on the server, too, what it has begun there."""
    tag = f"sparqr-{uuid.uuid4()}"
    session.addTag(tag)
    try:
        return work()
    except KeyboardInterrupt:
        # What the client leaves behind goes on there otherwise.
        session.interruptTag(tag)
        raise
    finally:
        session.removeTag(tag)


def told(e: BaseException) -> Optional[Exception]:
    """What to raise for an exception of the client; None if it may pass."""
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


# PySpark's references to models of the server.
_references: Any = weakref.WeakSet()


def note_reference(reference: Any) -> None:
    """Takes care that a model which lives until Python ends does not keep it from ending.

    PySpark 4.1 has the server forget a model when the last of its Python objects goes. Where an
    error's traceback holds on to one, that is so late that the call waits for ever for a thread to
    start. The server forgets it with the session anyway.
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
    """The DataFrame that a stage of the server makes of another, computed when it is collected.

    Parameters
    ----------
    name : str
        The transformer's class, or the server's name of a model.
    params : dict
        Params by name.
    child : pyspark.sql.connect.dataframe.DataFrame
        What it transforms.
    session : pyspark.sql.connect.session.SparkSession
        The session of both.
    model : object, optional
        The Python model behind the name, which lives as long as the DataFrame does: the server forgets
        its model when Python does.
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


def parcels(frame: Any) -> Dict[str, Any]:
    """What the rows of name, part, text and numbers say, by name: texts, and arrays of doubles."""
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
    """The report and a solution for each label column, by the server.

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
    params["options"] = [f"{name}={_word(value)}" for name, value in options.items()]
    session = df.sparkSession
    found = parcels(table(_SOLVE, params, df, session))
    vectors: List[Any] = [found[str(k)] for k in range(len(labels))]
    return json.loads(found["report"]), vectors, found["page"]


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def model_frame(model: Any, params: Dict[str, Any], data: Any = None) -> Any:
    """The DataFrame that a model's params name, ``output`` above all, of data where that reads them."""
    session = active_session()
    rows = session.range(0) if data is None else data
    return table(str(model._java_obj), params, rows, session, model=model)


def variables(session: Any, formula: str, columns: Sequence[str]) -> List[Any]:
    """Role, name, function and column of what a formula reads, by the server.

    Parameters
    ----------
    session : pyspark.sql.connect.session.SparkSession
        The session.
    formula : str
        R's formula.
    columns : sequence of str
        What a dot stands for.
    """
    # of no rows, and so for any number of columns a plan of a line
    fields = ", ".join("`" + name.replace("`", "``") + "` INT" for name in columns)
    nothing = session.createDataFrame([], fields or "none INT")
    found = table(_VARIABLES, {"formula": formula}, nothing, session)
    return [tuple(row) for row in found.collect()]
