# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Makes wages.pyfixest.json, for machines without pyfixest: python notebooks/reference.py where it is."""

from __future__ import annotations

import json
import pathlib

import panels
import pyfixest

FORMULA = "log_wage ~ tenure + trained | worker + firm + year"
ERRORS = {"iid": "iid", "hetero": "hetero", "CRV1": {"CRV1": "worker"}}


def values() -> dict:
    """Estimates and standard errors by pyfixest, by what the errors assume."""
    data = panels.wages()
    # its default stops at 1e-6
    fits = {
        name: pyfixest.feols(FORMULA, data, vcov=vcov, fixef_tol=1e-13, fixef_maxiter=1_000_000)
        for name, vcov in ERRORS.items()
    }
    return {
        name: {
            "Estimate": fit.coef().to_dict(),
            "Std. Error": fit.se().to_dict(),
        }
        for name, fit in fits.items()
    }


if __name__ == "__main__":
    made = {"made by": f"pyfixest {pyfixest.__version__}", "formula": FORMULA, "values": values()}
    path = pathlib.Path(__file__).with_name("wages.pyfixest.json")
    path.write_text(json.dumps(made, indent=1) + "\n")
    print(path.read_text())
