"""b_eff: effective bandwidth, and what one exchange takes over hosts and over serial channels.

Source: Meyer 2024, eq. 4.1 to 4.4 and 4.7; section 5.1.2 for the sub-steps of a staged transfer.
Sizes in bytes, times in seconds, rates in bytes a second.
"""

from __future__ import annotations

import numpy as np

from plumbline.model.equations import ArrayLike, Floats, floats

LOG_SIZES = 21  # messages of 2^0 to 2^20 bytes
CHANNELS_OF_A_PAIR = 2


def sizes() -> Floats:
    """The 21 message sizes of section 4.1.1."""
    return floats(2.0 ** np.arange(LOG_SIZES))


def effective_bandwidth(bandwidths: ArrayLike) -> Floats:
    """Eq. 4.1: the mean over the sizes, along the last axis."""
    return floats(np.mean(floats(bandwidths), axis=-1))


def bandwidth(message_bytes: ArrayLike, seconds: ArrayLike) -> Floats:
    """b_L = 2 L / t, the numerator of eq. 4.2 and 4.4: what is sent and what is received."""
    return floats(2 * floats(message_bytes) / floats(seconds))


def line_s(message_bytes: ArrayLike, latency_s: ArrayLike, rate: ArrayLike) -> Floats:
    """A link by its latency and its rate: latency + L / rate."""
    return floats(floats(latency_s) + floats(message_bytes) / floats(rate))


def staged_s(read_s: ArrayLike, exchange_s: ArrayLike, write_s: ArrayLike) -> Floats:
    """Eq. 4.2's denominator: three steps, one after the other."""
    return floats(floats(read_s) + floats(exchange_s) + floats(write_s))


def staged_peak(network_rate: ArrayLike, pcie_rate: ArrayLike) -> Floats:
    """Eq. 4.7: eq. 4.2 with peaks alone, 2 / (1/network + 2/PCIe)."""
    return floats(2 / (1 / floats(network_rate) + 2 / floats(pcie_rate)))


def channel_s(
    message_bytes: ArrayLike,
    width_bytes: ArrayLike,
    clock: ArrayLike,
    latency_s: ArrayLike,
    *,
    channels: ArrayLike = CHANNELS_OF_A_PAIR,
    messages: ArrayLike = 1,
) -> Floats:
    """Eq. 4.3: ceil(L / (c'_n c_w)) i / c_f + i c_l, for i messages over c'_n channels."""
    ticks = np.ceil(floats(message_bytes) / (floats(channels) * floats(width_bytes)))
    return floats(floats(messages) * (ticks / floats(clock) + floats(latency_s)))


def printed_channel_bandwidth(message_bytes: ArrayLike) -> Floats:
    """Eq. 4.4 as printed: 2 L / (ceil(L / 64 B) 6.4 ns + 520 ns), of one pair of kernels."""
    ticks = np.ceil(floats(message_bytes) / 64)
    return floats(2 * floats(message_bytes) / (ticks * 6.4e-9 + 520e-9))
