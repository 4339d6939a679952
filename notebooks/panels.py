# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The simulated panel of the notebook on wages, and of the script that makes its reference values."""

from __future__ import annotations

import numpy
import pandas

TENURE, TRAINED = 0.02, 0.05


def wages(workers: int = 4000, firms: int = 200, years: int = 6, seed: int = 17) -> pandas.DataFrame:
    """Log wages of workers who move between firms: a row a worker and year.

    Able workers change firms less and are trained more, so that a regression without worker effects takes
    their ability for the return to tenure and training.

    Parameters
    ----------
    workers, firms, years : int
        Sizes.
    seed : int
        Of NumPy's default generator.

    Returns
    -------
    pandas.DataFrame
        worker, firm, year, tenure, trained, log_wage; and ability and premium, which no one observes.
    """
    rng = numpy.random.default_rng(seed)
    ability = 0.3 * rng.standard_normal(workers)
    premium = 0.2 * rng.standard_normal(firms)
    by_premium = numpy.argsort(premium)
    shape = (workers, years)
    firm = numpy.empty(shape, dtype=int)
    tenure = numpy.empty(shape, dtype=int)
    leaves = 0.25 / (1 + numpy.exp(4 * ability))
    for year in range(years):
        # able workers are more likely to go to firms that pay well
        rank = (ability / 0.6 + rng.standard_normal(workers)) / 3 + 0.5
        found = by_premium[numpy.clip((rank * firms).astype(int), 0, firms - 1)]
        moves = rng.random(workers) < leaves if year else numpy.ones(workers, dtype=bool)
        firm[:, year] = numpy.where(moves, found, firm[:, year - 1])
        tenure[:, year] = numpy.where(moves, 0, tenure[:, year - 1] + 1)
    trained = rng.random(shape) < 1 / (1 + numpy.exp(1 - 2 * ability[:, None]))
    # persistent errors: those of one worker are not independent
    error = 0.1 * rng.standard_normal(shape)
    error[:, 1:] += 0.5 * error[:, :-1]
    wage = TENURE * tenure + TRAINED * trained + ability[:, None] + premium[firm] + error
    wage += 0.01 * numpy.arange(years)
    worker = numpy.repeat(numpy.arange(workers), years)
    return pandas.DataFrame(
        {
            "worker": [f"w{k:05d}" for k in worker],
            "firm": [f"f{k:03d}" for k in firm.ravel()],
            "year": numpy.tile(2015 + numpy.arange(years), workers),
            "tenure": tenure.ravel().astype(float),
            "trained": trained.ravel().astype(float),
            "log_wage": wage.ravel(),
            "ability": ability[worker],
            "premium": premium[firm.ravel()],
        }
    )
