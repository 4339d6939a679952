# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Exact sparse least squares on Apache Spark, by a distributed multifrontal QR factorization.

>>> import sparqr
>>> result = sparqr.solve(df, features_col="features", label_col="label")
>>> result.x, result.residual_norm, result.rank

The Spark ML estimator is in :mod:`sparqr.ml`. Both call Sparqr's jar in Spark's JVM: start Spark with
``spark.jars=sparqr-spark-...-all.jar``. Over Spark Connect they call it on the server, which has it by
``--jars``, or from the session: ``spark.addArtifacts("sparqr-spark-...-all.jar")``.

Ctrl-C (in a notebook: Interrupt) stops what runs: the jobs are cancelled, the session goes on.
"""

from sparqr._errors import SparqrError
from sparqr._solve import LeastSquaresResult, solve
from sparqr._version import __version__

__all__ = ["LeastSquaresResult", "SparqrError", "__version__", "solve"]
