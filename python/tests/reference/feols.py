# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Reference values for test_feols from pyfixest and statsmodels. Writes feols.json beside this file; run
from python/, with pyfixest 0.60.0 and statsmodels installed: python -m tests.reference.feols
"""

import json
import math
import pathlib
import re

from tests import panels

OUT = pathlib.Path(__file__).with_name("feols.json")

WORKER, FIRM, BOTH = {"CRV1": "worker"}, {"CRV1": "firm"}, {"CRV1": "worker + firm"}
HC = ["hetero", "HC0", "HC2", "HC3"]
TWO = "log_wage ~ age + tenure | worker + firm"
CASES = [
    ("wages", "log_wage ~ age + tenure + firm", None, ["iid", *HC, WORKER, BOTH]),
    ("wages", "log_wage ~ age + tenure + firm", "hours", ["iid", *HC, WORKER, BOTH]),
    ("wages", TWO, None, ["iid", *HC, WORKER, FIRM, BOTH]),
    ("wages", TWO, "hours", ["iid", *HC, WORKER, FIRM, BOTH]),
    ("wages", "log_wage ~ tenure*hours + C(year) | worker", None, ["iid", "hetero", FIRM]),
    ("wages", "log_wage ~ age + tenure:firm | worker^firm", None, ["iid", "hetero", WORKER]),
    ("panel", "y ~ x1 + x2 | worker + firm", None, ["iid", "hetero", WORKER, FIRM, BOTH]),
    ("panel", "y ~ x1 + x2 | worker + firm", "w", ["iid", "hetero", FIRM]),
    ("panel", "y ~ x1 + log(x2) | firm", None, ["iid", *HC, WORKER]),
    ("trade", "log(Euros) ~ log(dist_km) | Origin + Destination + Product + Year", None,
     ["iid", "hetero", {"CRV1": "Origin"}, {"CRV1": "Origin + Destination"}]),
    ("publications", "nb_pub ~ age:is_woman + nb_cites | author_id + year", None,
     ["iid", "hetero", {"CRV1": "author_id"}]),
]


# The fits that CI compares: one of each kind.
QUICK = [(0, "HC2"), (0, BOTH), (1, WORKER), (2, "HC3"), (3, BOTH), (4, "hetero"), (5, WORKER), (6, BOTH), (7, FIRM), (9, {"CRV1": "Origin + Destination"}),
         (10, "iid")]


def name(text):
    """The name in Sparqr's spelling."""
    text = re.sub(r"C\((\w+)\)\[(?:T\.)?([^]]*)\]", r"factor(\1)\2", text)
    text = re.sub(r"(\w+)\[(?:T\.)?([^]]*)\]", r"\1\2", text)
    return {"Intercept": "(Intercept)"}.get(text, text)


def by_pyfixest(data, formula, weights, vcov):
    import pyfixest

    if vcov in HC[1:]:  # pyfixest has no HC0, and multiplies the variances of HC2 and HC3 by n / (n - k)
        return None
    fit = pyfixest.feols(formula, data, vcov=vcov, weights=weights, fixef_tol=1e-12, fixef_maxiter=1_000_000)
    table = fit.tidy()
    extra = {"nobs": int(fit._N), "r2": fit._r2, "r2_within": fit._r2_within, "rmse": fit._rmse}
    return {name(n): [float(v) for v in row] for n, row in zip(table.index, table.to_numpy())}, extra


def by_statsmodels(data, formula, weights, vcov, rows):
    """With dummies; None if statsmodels makes different corrections."""
    import numpy
    import statsmodels.api as sm
    from formulaic import Formula

    left, _, right = formula.partition("~")
    terms, _, effects = right.partition("|")
    effects = [e.strip() for e in effects.split("+") if e.strip()]
    clusters = [] if isinstance(vcov, str) else [c.strip() for c in vcov["CRV1"].split("+")]
    nested = any(c in e.split("^") for e in effects for c in clusters)
    if len(data) > 3000 or len(data) != rows or len(clusters) > 1 or nested:
        return None
    dummies = [f"C({e})" if "^" not in e else f"C({e.replace('^', '):C(')})" for e in effects]
    if any("^" in e for e in effects):
        return None
    design = Formula(f"{' + '.join(dummies)}{' + ' if dummies else ''}{terms}").get_model_matrix(data)
    y = numpy.log(data["Euros"]) if "log(" in left else data[left.strip()]
    w = numpy.ones(len(data)) if weights is None else data[weights]
    model = sm.WLS(y, design, weights=w)
    kind = {"iid": "nonrobust", "hetero": "HC1"}.get(vcov, vcov) if not clusters else "cluster"
    more = {"cov_kwds": {"groups": data[clusters[0]].astype("category").cat.codes}} if clusters else {}
    fit = model.fit(method="qr", cov_type=kind, use_t=True, **more)
    ends = fit.conf_int().to_numpy()
    found = zip(design.columns, fit.params, fit.bse, fit.tvalues, fit.pvalues, ends[:, 0], ends[:, 1])
    kept = {name(n): [float(v) for v in values] for n, *values in found}
    drop = [f"factor({e})" for e in effects] + (["(Intercept)"] if effects else [])
    return {n: v for n, v in kept.items() if not any(n.startswith(d) for d in drop)}


def main():
    import pandas
    import pyfixest
    import statsmodels

    made = []
    for k, (source, formula, weights, kinds) in enumerate(CASES):
        data = pandas.DataFrame(panels.columns(source))
        rows = pyfixest.feols(formula, data)._N
        for vcov in kinds:
            one = by_pyfixest(data, formula, weights, vcov)
            two = by_statsmodels(data, formula, weights, vcov, rows)
            if not (one or two):
                continue
            case = {"data": source, "formula": formula, "weights": weights, "vcov": vcov}
            case["quick"] = (k, vcov) in QUICK
            case["pyfixest"], case["fit"] = one or (None, None)
            case["statsmodels"] = two
            made.append(case)
            print(source, formula, weights, vcov, agreement(case))
    versions = {"pyfixest": pyfixest.__version__, "statsmodels": statsmodels.__version__}
    lines = ",\n".join(json.dumps(case) for case in made)
    OUT.write_text(f'{{"versions": {json.dumps(versions)}, "cases": [\n{lines}\n]}}\n')


def agreement(case):
    """The largest relative difference of the two in estimates and errors, printed as information."""
    a, b = case["pyfixest"], case["statsmodels"]
    if not (a and b):
        return "one alone"
    return max(abs(u - v) / abs(u) for n in a for u, v in list(zip(a[n], b.get(n, [math.nan] * 6)))[:2])


if __name__ == "__main__":
    main()
