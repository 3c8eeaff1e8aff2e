"""GEMM on a board: load, multiply and store a block, one after the other (eq. 3.2).

Source: Meyer 2024, section 3.2.4. b is the block's rows, u the numbers of global memory a cycle, g
the rows of the product in registers, n the inner dimension of the matrices, r the replications.
Times in seconds for one block, clocks in hertz.
"""

from __future__ import annotations

import numpy as np

from plumbline.model.equations import ArrayLike, Floats, floats


def printed_block_s(
    b: ArrayLike, u: ArrayLike, g: ArrayLike, n: ArrayLike, clock: ArrayLike, memory: ArrayLike
) -> Floats:
    """Eq. 3.2: b^2/(u f_mem) + b^3/(g^3 f_k) + b^2/(u (n/b) f_mem)."""
    block, unroll, f_mem = floats(b), floats(u), floats(memory)
    load = block**2 / (unroll * f_mem)
    multiply = block**3 / (floats(g) ** 3 * floats(clock))
    return floats(load + multiply + block**2 / (unroll * (floats(n) / block) * f_mem))


def multiply_s(b: ArrayLike, g: ArrayLike, clock: ArrayLike) -> Floats:
    """The second pipeline: g^3 multiply-adds a cycle of the kernel."""
    return floats(floats(b) ** 3 / (floats(g) ** 3 * floats(clock)))


def load_s(
    b: ArrayLike,
    u: ArrayLike,
    clock: ArrayLike,
    r: ArrayLike,
    number_bytes: ArrayLike,
    memory_rate: ArrayLike,
) -> Floats:
    """The first pipeline: u numbers of both factors a cycle of the *kernel's* clock.

    Replications start together and are equally long, so all load at once: no faster than memory
    delivers 2 r b^2 numbers. (f_mem is not given; the pipeline is the kernel's.)
    """
    asked = floats(b) ** 2 / (floats(u) * floats(clock))
    delivered = 2 * floats(r) * floats(b) ** 2 * floats(number_bytes) / floats(memory_rate)
    return floats(np.maximum(asked, delivered))


def store_s(load: ArrayLike, n: ArrayLike, b: ArrayLike) -> Floats:
    """The third pipeline's share of one block: it works once in n / b blocks, as long as a load."""
    return floats(floats(load) * floats(b) / floats(n))


def flops(b: ArrayLike, r: ArrayLike, block_s: ArrayLike) -> Floats:
    """Flops a second of r replications that take ``block_s`` for 2 b^3 flops."""
    return floats(floats(r) * 2 * floats(b) ** 3 / floats(block_s))


def normalised(rate: ArrayLike, r: ArrayLike, clock: ArrayLike) -> Floats:
    """Section 3.2.4: flops a second of one replication at 100 MHz."""
    return floats(floats(rate) / floats(r) / (floats(clock) / 100e6))
