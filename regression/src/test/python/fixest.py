# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Reference values of RobustRegressionTest by pyfixest, which follows R's fixest: clustered errors
beside absorbed effects, some of them nested in the clusters. Writes pyfixest.csv into
src/test/resources/inference; run from regression, with pyfixest and pandas:
python3 src/test/python/fixest.py
"""
import pandas as pd
import pyfixest as pf

out = "src/test/resources/inference/"
data = pd.read_csv(out + "data.csv")
data["group"] = data["first"] % 5
lines = ["# pyfixest " + pf.__version__]
for name, formula, clusters in [
    ("nested", "y ~ x1 + x2 | first", "group"),
    ("itself", "y ~ x1 + x2 | first", "first"),
    ("oneOfTwo", "y ~ x1 + x2 | first + second", "group"),
    ("none", "y ~ x1 + x2 | second", "group"),
    ("twoWays", "y ~ x1 + x2 | first + second", "group + g"),
    ("plain", "y ~ x1 + x2", "group"),
]:
    fit = pf.feols(formula, data=data, vcov={"CRV1": clusters}, weights="w")
    for term in ["x1", "x2"]:
        lines.append(
            "%s,%s,%.17g,%.17g,%.17g"
            % (name, term, fit.coef()[term], fit.se()[term], fit.pvalue()[term])
        )
open(out + "pyfixest.csv", "w").write("\n".join(lines) + "\n")
