"""ACCL: messages between FPGAs, buffered or streamed, scheduled by the host or on the device.

Source: Meyer 2024, section 5.1.4, eq. 5.1; section 5.1.5 for the switch. Sizes in bytes, times in
seconds, rates in bytes a second.
"""

from __future__ import annotations

from plumbline.model.equations import ArrayLike, Floats, floats


def buffered_s(command_s: ArrayLike, copy_s: ArrayLike, link_s: ArrayLike) -> Floats:
    """Eq. 5.1: 2 l_k + l_m + l_c, with a command to send, one to receive, and a copy."""
    return floats(2 * floats(command_s) + floats(copy_s) + floats(link_s))


def streaming_s(command_s: ArrayLike, link_s: ArrayLike) -> Floats:
    """Section 5.1.4: l_k + l_c; the stream ends in the kernel, without a copy."""
    return floats(floats(command_s) + floats(link_s))


def buffered_peak(copy_rate: ArrayLike, link_rate: ArrayLike) -> Floats:
    """Section 5.1.4: (1/copy + 1/link)^-1, 6.6 GB/s of 14 and 12.5."""
    return floats(1 / (1 / floats(copy_rate) + 1 / floats(link_rate)))


def link_s(
    message_bytes: ArrayLike, latency_s: ArrayLike, rate: ArrayLike, switch_s: ArrayLike = 0.0
) -> Floats:
    """l_c: latency, what a switch adds (section 5.1.5: 1 us), and L / rate."""
    wire = floats(message_bytes) / floats(rate)
    return floats(floats(latency_s) + floats(switch_s) + wire)


def copy_s(message_bytes: ArrayLike, latency_s: ArrayLike, rate: ArrayLike) -> Floats:
    """l_m: its fixed part and L / rate of global memory."""
    return floats(floats(latency_s) + floats(message_bytes) / floats(rate))
