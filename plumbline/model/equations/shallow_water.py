"""Shallow water on a partitioned mesh: throughput, and what communication takes of a step.

Source: Meyer 2024, section 5.2.2, eq. 5.2 and 5.3. Elements are counted in elements, which are
cycles of the pipeline too, one each; D_ext and L_pipe are cycles. l_k, l_m and L_pingpong are
measured in seconds (section 5.2.3), f in hertz.

The two equations mix both: eq. 5.3 divides l_k and l_m by f as if they were cycles, adds
L_pingpong in seconds, and eq. 5.2 takes the larger of that and of cycles. :func:`comm_cycles` has
everything in cycles, the only unit in which eq. 5.2 is a rate.
"""

from __future__ import annotations

import numpy as np

from plumbline.model.equations import ArrayLike, Floats, floats


def printed_throughput(
    f: ArrayLike,
    flop_total: ArrayLike,
    e_core: ArrayLike,
    d_ext: ArrayLike,
    l_comm: ArrayLike,
    e_exchanged: ArrayLike,
    l_pipe: ArrayLike,
) -> Floats:
    """Eq. 5.2: f FLOP_total / (max(E_core + D_ext, L_comm) + E_send + E_recv + L_pipe)."""
    cycles = step_cycles(e_core, d_ext, l_comm, e_exchanged, l_pipe)
    return floats(floats(f) * floats(flop_total) / cycles)


def printed_comm(
    f: ArrayLike,
    e_exchanged: ArrayLike,
    n_max: ArrayLike,
    l_k: ArrayLike,
    l_m: ArrayLike,
    l_pingpong: ArrayLike,
) -> Floats:
    """Eq. 5.3 as printed: (E_send + E_recv + 2 N_max l_k + N_max l_m) / f + L_pingpong."""
    near = floats(n_max)
    return floats(
        (floats(e_exchanged) + 2 * near * floats(l_k) + near * floats(l_m)) / floats(f)
        + floats(l_pingpong)
    )


def comm_cycles(
    f: ArrayLike,
    e_exchanged: ArrayLike,
    n_max: ArrayLike,
    l_k: ArrayLike,
    l_m: ArrayLike,
    l_pingpong: ArrayLike,
) -> Floats:
    """Eq. 5.3 in cycles, of latencies in seconds; 0 where there is no neighbour."""
    near = floats(n_max)
    latencies = 2 * near * floats(l_k) + near * floats(l_m) + floats(l_pingpong)
    return floats(np.where(near > 0, floats(e_exchanged) + floats(f) * latencies, 0.0))


def step_cycles(
    e_core: ArrayLike,
    d_ext: ArrayLike,
    l_comm: ArrayLike,
    e_exchanged: ArrayLike,
    l_pipe: ArrayLike,
) -> Floats:
    """Eq. 5.2's denominator: cycles of one step of time."""
    busy = np.maximum(floats(e_core) + floats(d_ext), floats(l_comm))
    return floats(busy + floats(e_exchanged) + floats(l_pipe))


def stall_share(
    e_core: ArrayLike,
    d_ext: ArrayLike,
    l_comm: ArrayLike,
    e_exchanged: ArrayLike,
    l_pipe: ArrayLike,
) -> Floats:
    """The share of a step in which the pipeline waits for messages (section 5.2.3: 75 to 80 %)."""
    waits = np.maximum(0.0, floats(l_comm) - floats(e_core) - floats(d_ext))
    return floats(waits / step_cycles(e_core, d_ext, l_comm, e_exchanged, l_pipe))
