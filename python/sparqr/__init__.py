# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Exact sparse least squares on Apache Spark, by a distributed multifrontal QR factorization.

>>> import sparqr
>>> spark = sparqr.session("local[*]", memory="8g")
>>> result = sparqr.solve(df, features_col="features", label_col="label")
>>> result.x, result.residual_norm, result.rank

Without a DataFrame, from matrices of SciPy, NumPy, pandas or Polars, or from files:

>>> sparqr.lstsq(A, b).x
>>> with sparqr.factorize(A) as f:
...     f.solve(b).x, f.r

R and Q of a tall dense matrix, and its singular values:

>>> Q, R = sparqr.qr(A)
>>> U, s, Vh = sparqr.svd(A, 10)
>>> found = sparqr.robust_pca(A)  # A = found.L + found.S

The Spark ML estimator is in :mod:`sparqr.ml`. Everything calls Sparqr's jar in Spark's JVM:
:func:`session` starts a session with the jar, :func:`jar` returns its path for your own sessions.
Over Spark Connect the jar must be on the server, by ``--jars`` or by
``spark.addArtifacts(sparqr.jar())`` in the session.

Ctrl-C (in a notebook: Interrupt) stops the computation: its jobs are cancelled, the session stays usable.
"""

from sparqr._analyze import Analysis, analyze
from sparqr._devices import Device, devices
from sparqr._doctor import Diagnosis, doctor
from sparqr._errors import SparqrError
from sparqr._explicit_q import QTransposed
from sparqr._factorization import Factorization, factorize, load
from sparqr._feols import Feols, feols
from sparqr._lstsq import LstsqResult, from_scipy, lstsq
from sparqr._predictions import Predictions
from sparqr._ridge_path import ridge_path
from sparqr._robust import RobustPca, robust_pca
from sparqr._session import jar, session
from sparqr._solve import LeastSquaresResult, solve
from sparqr._tall import qr, svd
from sparqr._version import __version__

__all__ = [
    "Analysis",
    "Device",
    "Diagnosis",
    "Factorization",
    "Feols",
    "LeastSquaresResult",
    "LstsqResult",
    "Predictions",
    "QTransposed",
    "RobustPca",
    "SparqrError",
    "__version__",
    "analyze",
    "devices",
    "doctor",
    "factorize",
    "feols",
    "from_scipy",
    "jar",
    "load",
    "lstsq",
    "qr",
    "ridge_path",
    "robust_pca",
    "session",
    "solve",
    "svd",
]
