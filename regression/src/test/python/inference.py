# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Reference values of InferenceReferenceTest by statsmodels, from data.csv of inference.R.

Writes statsmodels.csv into src/test/resources/inference; run from regression:
    python3 src/test/python/inference.py
"""

import csv

import numpy as np
import statsmodels
import statsmodels.api as sm

OUT = "src/test/resources/inference/"

with open(OUT + "data.csv") as f:
    rows = list(csv.DictReader(f))


def column(name):
    return np.array([float(r[name]) for r in rows])


g = column("g")
design = np.column_stack(
    [np.ones(len(rows)), column("x1"), column("x2")] + [g == level for level in range(2, 9)]
).astype(float)
first = column("first").astype(int)
second = column("second").astype(int)

lines = ["# statsmodels " + statsmodels.__version__]


def put(name, values):
    values = np.atleast_2d(values)
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            lines.append(f"{name},{i},{j},{values[i, j]:.17g}")


for weighted in (False, True):
    prefix = "weighted." if weighted else ""
    weights = column("w") if weighted else np.ones(len(rows))
    model = sm.WLS(column("y"), design, weights=weights)
    for kind in ("HC0", "HC1", "HC2", "HC3"):
        put(prefix + kind, model.fit(cov_type=kind).cov_params())
    one = {"groups": first}
    two = {"groups": np.column_stack([first, second])}
    put(prefix + "cluster", model.fit(cov_type="cluster", cov_kwds=one).cov_params())
    put(
        prefix + "cluster.none",
        model.fit(cov_type="cluster", cov_kwds=dict(one, use_correction=False)).cov_params(),
    )
    put(prefix + "cluster2", model.fit(cov_type="cluster", cov_kwds=two).cov_params())
    if not weighted:
        influence = sm.OLS(column("y"), design).fit().get_influence()
        put("hat", influence.hat_matrix_diag.reshape(-1, 1))
        put("cook", influence.cooks_distance[0].reshape(-1, 1))
        put("rstudent", influence.resid_studentized_external.reshape(-1, 1))

with open(OUT + "statsmodels.csv", "w") as f:
    f.write("\n".join(lines) + "\n")
