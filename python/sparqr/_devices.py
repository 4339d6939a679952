# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The GPUs that a session's tasks can use."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

from sparqr._arrays import active_session
from sparqr._calls import in_thread
from sparqr._jvm import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Device:
    """A GPU.

    Attributes
    ----------
    where : str
        The process that can use it: ``"driver"``, ``"executor 1 on host"``.
    index : int
        Its number there, from 0.
    description : str
        Compute capability, and where the kernels for it are from.
    memory_bytes : int
        Its memory.
    """

    where: str
    index: int
    description: str
    memory_bytes: int


def devices(spark: Optional[SparkSession] = None) -> list[Device]:
    """The GPUs that the tasks of a session can use: those of the driver in local mode, otherwise of all executors.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession, optional
        Default: the active one, or a new one by ``sparqr.session()``.

    Returns
    -------
    list of Device
        Empty where there is none; :func:`sparqr.doctor` says why.

    Raises
    ------
    RuntimeError
        The session has no Sparqr, or is a client of Spark Connect.

    Notes
    -----
    On a cluster one job, with a task for each executor. An executor that is busy may be left out.

    Examples
    --------
    >>> sparqr.devices()  # doctest: +SKIP
    """
    session = spark or active_session("session")

    def work() -> str:
        doctor = java_class(session._jvm, "io.sparqr.spark.doctor.Doctor")
        return str(doctor.devicesJson(session.sparkContext._jsc))

    found = json.loads(in_thread(session, "sparqr.devices", work))
    return [Device(one["where"], one["index"], one["description"], one["memoryBytes"]) for one in found]
