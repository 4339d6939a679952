# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Random regressions by feols against the answers of a dense oracle:

    python3 -m tests.programs.regressions FILE [TABLES [CASE]]

FILE has one case a line, as io.sparqr.campaign.regression.RegressionCampaign writes them; TABLES are
some of pandas, category, polars and spark, separated by commas. Every disagreement is printed.
"""

import json
import math
import sys

FIGURES = ["Estimate", "Std. Error", "t value", "Pr(>|t|)"]
SCALARS = {
    "n": "nobs",
    "rank": "rank",
    "df": "df_residual",
    "dft": "df_t",
    "sigma": "sigma",
    "r2": "r2",
    "r2adj": "r2_adj",
    "r2within": "r2_within",
}
TABLES = ("pandas", "category", "polars", "spark")


def _present(column):
    """The values with None for all that is missing."""
    return [None if v == "NaN" and column["kind"] == "NUMBER" else v for v in column["values"]]


def _pandas(case, category=False):
    import pandas

    made = {}
    for column in case["columns"]:
        values = _present(column)
        kind = column["kind"]
        if kind == "NUMBER" or kind == "WHOLE" and None in values:
            values = pandas.array([math.nan if v is None else v for v in values], dtype="float64")
        elif kind == "WHOLE":
            values = pandas.array(values, dtype="int64")
        elif kind == "TRUTH" and None not in values:
            values = pandas.array(values, dtype="bool")
        elif kind == "TEXT" and category:
            # in the order of the others, with one more that no row has
            levels = sorted({v for v in values if v is not None}, key=str.encode)
            values = pandas.Categorical(values, categories=["!", *levels])
        made[column["name"]] = pandas.Series(values, dtype=object if isinstance(values, list) else None)
    return pandas.DataFrame(made)


def _polars(case):
    import polars

    types = {"NUMBER": polars.Float64, "WHOLE": polars.Int64, "TEXT": polars.String, "TRUTH": polars.Boolean}
    columns = []
    for column in case["columns"]:
        values = [math.nan if v == "NaN" and column["kind"] == "NUMBER" else v for v in column["values"]]
        columns.append(polars.Series(column["name"], values, dtype=types[column["kind"]]))
    return polars.DataFrame(columns)


def _spark(case, spark):
    from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType, StructField, StructType

    types = {"NUMBER": DoubleType(), "WHOLE": LongType(), "TEXT": StringType(), "TRUTH": BooleanType()}
    schema = StructType([StructField(c["name"], types[c["kind"]]) for c in case["columns"]])
    columns = [
        [float(v) if c["kind"] == "NUMBER" and v is not None else v for v in c["values"]] for c in case["columns"]
    ]
    return spark.createDataFrame(list(zip(*columns)), schema)


def table(case, kind, spark):
    """The data of a case in one of TABLES."""
    if kind == "polars":
        return _polars(case)
    if kind == "spark":
        return _spark(case, spark)
    return _pandas(case, kind == "category")


def fit(case, data, singletons):
    """The case by feols."""
    import sparqr

    vcov = {"CRV1": " + ".join(case["clusters"])} if case["clusters"] else case["errors"]
    options = {"cluster_correction": case["correction"]} if case["correction"] else {}
    return sparqr.feols(
        case["formula"],
        data,
        vcov,
        case["weights"],
        fixef_rm=singletons,
        categorical=case["categorical"],
        reference_levels=case["references"],
        keep_terms=case["keep"],
        drop_terms=case["drop"],
        **options,
    )


def allowed(figure, found):
    """Whether a number is right; figure is None, or value, tolerance, another value, whether NaN is right."""
    if figure is None:
        return True
    value, tolerance, other, nothing = figure
    if found is None or math.isnan(found):
        return nothing
    return any(v is not None and abs(found - v) <= tolerance for v in (value, other))


def differences(expected, fitted):
    """What differs, as texts."""
    told = []
    rows = [c for c in expected["coefficients"] if c["defined"]]
    undefined = [c["name"] for c in expected["coefficients"] if not c["defined"]]
    found = fitted.tidy()
    names = [c["name"] for c in rows]
    got = list(found.index)
    if (got if expected["ordered"] else sorted(got)) != (names if expected["ordered"] else sorted(names)):
        return [f"names: {got} instead of {names}"]
    if sorted(fitted.dropped) != sorted(undefined):
        told.append(f"dropped: {fitted.dropped} instead of {undefined}")
    for row in rows:
        for name, figure in zip(FIGURES, row["figures"]):
            value = float(found.loc[row["name"], name])
            if not allowed(figure, value):
                told.append(f"{name} of {row['name']}: {value} instead of {figure}")
    for name, figure in expected["scalars"].items():
        if name in SCALARS and not allowed(figure, getattr(fitted, SCALARS[name])):
            told.append(f"{name}: {getattr(fitted, SCALARS[name])} instead of {figure}")
    return told


def check(case, kind, singletons, spark):
    """Differences between the case by feols and the oracle; None if that does not know."""
    expected = case[singletons]
    if expected is None:
        return None
    try:
        found = fit(case, table(case, kind, spark), singletons)
        told = differences(expected, found) if not expected["error"] else ["error: a fit instead of one"]
    except Exception as e:
        right = expected["error"] and expected["error"] in str(e)
        told = [] if right else [f"error: {type(e).__name__}: {e} instead of {expected['error'] or 'a fit'}"]
    return told


def cases(path):
    """The cases of a file."""
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def told(case, kind, singletons, some):
    """A disagreement as text."""
    options = {k: case[k] for k in ("weights", "errors", "clusters", "correction", "categorical", "references")}
    options.update({k: case[k] for k in ("keep", "drop") if case[k]})
    head = f"feols {kind} {singletons}, case {case['case']} of seed {case['seed']}"
    kinds = ", ".join(k for k in case["kinds"] if k)
    return "\n    ".join([f"{head} ({kinds}): {case['formula']}, {options}", *some[:5]])


def main(path, kinds=TABLES[0], number=None):
    from tests.spark import builder

    spark = builder().getOrCreate()
    solved = {}
    wrong = 0
    for case in cases(path):
        if number is not None and case["case"] != int(number):
            continue
        for kind in kinds.split(","):
            for singletons in ("none", "singleton") if kind in ("pandas", "spark") else ("none",):
                some = check(case, kind, singletons, spark)
                if some is None:
                    continue
                solved[kind] = solved.get(kind, 0) + 1
                if some:
                    wrong += 1
                    print(told(case, kind, singletons, some), flush=True)
    print(f"{solved} fits, {wrong} disagree")
    spark.stop()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
