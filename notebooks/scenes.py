# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The made-up film of the notebook on background subtraction."""

from __future__ import annotations

import numpy


def moving(
    height: int, width: int, frames: int, noise: float = 0.0, seed: int = 7
) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Two figures walk past a camera that does not move, while the light drifts.

    The background, a wall, a floor and a door, has rank 3; the figures cover 3 to 8 percent of a frame's pixels.

    Parameters
    ----------
    height, width, frames : int
        Sizes.
    noise : float
        Standard deviation of the sensor's, where white is 1.
    seed : int
        Of NumPy's default generator.

    Returns
    -------
    (background, seen) : numpy.ndarray
        Both of shape (height * width, frames): a row a pixel, a column a frame.
    """
    rng = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[:height, :width] + 0.5
    across, down = (x / width).ravel(), (y / height).ravel()
    wall = 0.45 + numpy.where(down < 0.62, 0.12 + 0.12 * numpy.sin(40 * across), 0)
    door = (across > 0.7) & (across < 0.82) & (down > 0.22) & (down < 0.62)
    base = numpy.where(door, 0.3, wall)
    window = numpy.exp(-8 * ((across - 0.25) ** 2 + (down - 0.3) ** 2))
    time = numpy.arange(frames) / frames
    background = (
        numpy.outer(base, 1 + 0.08 * numpy.sin(2 * numpy.pi * time))
        + numpy.outer(window, 0.1 * time)
        + numpy.outer(across, 0.06 * numpy.cos(3 * numpy.pi * time))
    )
    seen = background.copy()
    for direction, grey in ((1, 0.1), (-1, 0.88)):
        size = height * rng.uniform(0.36, 0.46)
        ground = height * rng.uniform(0.78, 0.94)
        begin, crossings = rng.random(), direction * rng.uniform(1.2, 1.8)
        above = (ground - y.ravel()) / size
        for t in range(frames):
            at = width * (begin + crossings * t / frames)
            aside = x.ravel() - at
            aside = (aside - width * numpy.floor(aside / width + 0.5)) / size
            body = (aside / 0.17) ** 2 + ((above - 0.42) / 0.42) ** 2 < 1
            head = aside**2 + (above - 0.9) ** 2 < 0.01
            seen[body | head, t] = grey
    if noise:
        seen += noise * rng.standard_normal(seen.shape)
    return background, seen
