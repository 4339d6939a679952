# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Loads stages from a folder without importing sparqr; prints the loaded stages."""

import importlib
import json
import pathlib
import sys

from tests.spark import builder, line


def loaded(name, path):
    module, _, cls = name.rpartition(".")
    return getattr(importlib.import_module(module), cls).load(str(path))


def sparqr_is_imported():
    return any(m == "sparqr" or m.startswith("sparqr.") for m in sys.modules)


def main(folder):
    spark = builder().getOrCreate()
    folder = pathlib.Path(folder)
    before = sparqr_is_imported()
    found = {}
    for name, path in json.loads((folder / "what.json").read_text()).items():
        stage = loaded(path["class"], folder / name)
        inner = eval(path["stage"], {"it": stage})
        found[name] = [type(inner).__module__ + "." + type(inner).__name__, inner.getRegParam()]
        if hasattr(stage, "transform"):
            found[name].append(stage.transform(line(spark)).first().prediction)
    import sparqr

    print(json.dumps({"before": before, "found": found, "file": sparqr.__file__}))
    spark.stop()


main(*sys.argv[1:])
