#!/usr/bin/env python3
"""Shallow water by ANUGA: finite volumes of second order (DE1), Runge-Kutta of two stages, OpenMP, double.

    PYTHON bench/peers/anuga_water.py MESH.14 STEPS SAMPLES [THREADS]

PYTHON has the package anuga (4.1.0; Apache-2.0). The mesh is ADCIRC's fort.14, its waves like those of our default case; all edges are
closed, so no tide is computed. Both of ANUGA's solvers for CPUs are tried. A sample is STEPS steps, without output. Prints a line of JSON
for each solver: elements, stages, work of a sample (elements * stages * steps), samples_s.
"""

import json
import sys
import time
from pathlib import Path

import anuga
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ALGORITHM, STAGES = "DE1", 2


def read(path: Path) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Points, depths and triangles."""
    with path.open() as file:
        next(file)
        elements, vertices = map(int, next(file).split()[:2])
        points = np.loadtxt(file, usecols=(1, 2, 3), max_rows=vertices)
        triangles = np.loadtxt(file, usecols=(2, 3, 4), max_rows=elements, dtype=int) - 1
    return points[:, :2], points[:, 2], triangles


def domain_of(
    points: Floats, depths: Floats, triangles: NDArray[np.int64], mode: str
) -> anuga.Domain:
    """A closed bay with waves."""
    domain = anuga.Domain(points, triangles)
    domain.set_store(False)
    domain.set_flow_algorithm(ALGORITHM)
    domain.set_compute_mode(mode)
    span = np.ptp(points, axis=0).max()
    waves = 0.1 * np.sin(8 * np.pi * points[:, 0] / span) * np.cos(8 * np.pi * points[:, 1] / span)
    domain.set_quantity("elevation", -depths, location="unique vertices")
    domain.set_quantity("stage", waves, location="unique vertices")
    domain.set_quantity("friction", 0.0)
    wall = anuga.Reflective_boundary(domain)
    domain.set_boundary(dict.fromkeys(domain.get_boundary_tags(), wall))
    return domain


def sample(domain: anuga.Domain, step_s: float, steps: int) -> float:
    """Seconds of so many steps."""
    end = domain.get_time() + step_s * steps
    begun = time.perf_counter()
    for _ in domain.evolve(yieldstep=step_s * steps, finaltime=end, skip_initial_step=True):
        pass
    seconds = time.perf_counter() - begun
    if domain.number_of_steps != steps:
        sys.exit(f"{domain.number_of_steps} steps instead of {steps}")
    return seconds


def main() -> None:
    path, steps, samples = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    if len(sys.argv) > 4:
        anuga.set_omp_num_threads(int(sys.argv[4]))
    points, depths, triangles = read(path)
    for mode in ("legacy", "unified"):
        domain = domain_of(points, depths, triangles, mode)
        corners = points[triangles]
        sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
        step_s = 0.02 * sides.min() / np.sqrt(9.81 * (depths.max() + 1))
        domain.set_fixed_flux_timestep(step_s)
        sample(domain, step_s, steps)
        took = [sample(domain, step_s, steps) for _ in range(samples)]
        stage = domain.quantities["stage"].centroid_values
        if not np.isfinite(stage).all() or not 0.001 < np.abs(stage).max() < 1:
            sys.exit(f"{mode}: the level is {np.abs(stage).max()} m")
        work = len(triangles) * STAGES * steps
        told = {"form": mode, "elements": len(triangles), "stages": STAGES}
        print(json.dumps({**told, "work": work, "samples_s": took}))


if __name__ == "__main__":
    main()
