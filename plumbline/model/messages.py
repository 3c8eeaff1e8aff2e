"""Messages between devices: over hosts, over serial channels, and by ACCL.

Source: Meyer 2024, eq. 4.2, 4.3 and 4.7, section 5.1.2 for the sub-steps of a staged transfer; ACCL
(buffered or streamed, scheduled by the host or on the device): section 5.1.4, eq. 5.1, section
5.1.5 for the switch. Sizes in bytes, times in seconds, rates in bytes a second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plumbline.model.arrays import ArrayLike, Floats, floats

CHANNELS_OF_A_PAIR = 2


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


HEADER_BYTES = 64  # of a packet: one word of ACCL


@dataclass(frozen=True)
class Counts:
    """What one message costs ACCL: the coefficients of l_k and l_m, and what passes the link.

    ``packets`` and ``packet_bytes`` (with headers) include a rendezvous' address and end.
    """

    commands: int
    copies: int
    packets: int
    packet_bytes: int


EAGER, STREAMED = (2, 1), (1, 0)  # commands and copies: eq. 5.1, section 5.1.4
RENDEZVOUS = (2, 0)


def counts_of(
    message_bytes: int,
    *,
    landing: str = "buffered",
    packet: int = 1536,
    buffer: int = 1024,
    eager_limit: int | None = 32 << 10,
) -> Counts:
    """The counts of a message; ``eager_limit`` None: all are eager (UDP, stream out and buffer in).

    An eager message is cut into segments of a receive buffer, and each of them into packets.
    """
    payload = packet - HEADER_BYTES
    whole, rest = divmod(message_bytes, buffer)
    if landing == "streaming":
        terms, packets = STREAMED, -(-message_bytes // payload)
    elif eager_limit is not None and message_bytes > eager_limit:
        terms, packets = RENDEZVOUS, -(-message_bytes // payload) + 2
    else:
        last = max(-(-rest // payload), 0 if whole else 1)
        terms, packets = EAGER, whole * -(-buffer // payload) + last
    return Counts(*terms, packets, message_bytes + HEADER_BYTES * packets)


def counted_s(counts: Counts, command_s: ArrayLike, copy_s: ArrayLike, link_s: ArrayLike) -> Floats:
    """The time of a message by its counts; ``link_s``: l_c of all that it sends."""
    commands = counts.commands * floats(command_s)
    return floats(commands + counts.copies * floats(copy_s) + floats(link_s))


def buffered_s(command_s: ArrayLike, copy_s: ArrayLike, link_s: ArrayLike) -> Floats:
    """Eq. 5.1: 2 l_k + l_m + l_c, with a command to send, one to receive, and a copy."""
    return floats(2 * floats(command_s) + floats(copy_s) + floats(link_s))


def rendezvous_s(command_s: ArrayLike, address_link_s: ArrayLike, link_s: ArrayLike) -> Floats:
    """2 l_k + l_c(64 B) + l_c(L): the receiver's address goes first, and nothing is copied."""
    return floats(2 * floats(command_s) + floats(address_link_s) + floats(link_s))


def streaming_s(command_s: ArrayLike, link_s: ArrayLike) -> Floats:
    """Section 5.1.4: l_k + l_c; the stream ends in the kernel, without a copy."""
    return floats(floats(command_s) + floats(link_s))


def buffered_peak(copy_rate: ArrayLike, link_rate: ArrayLike) -> Floats:
    """Section 5.1.4: (1/copy + 1/link)^-1, 6.6 GB/s of 14 and 12.5."""
    return floats(1 / (1 / floats(copy_rate) + 1 / floats(link_rate)))


def link_s(
    message_bytes: ArrayLike, latency_s: ArrayLike, rate: ArrayLike, switch_s: ArrayLike = 0.0
) -> Floats:
    """l_c: latency, additional latency of a switch (section 5.1.5: 1 us), and L / rate."""
    wire = floats(message_bytes) / floats(rate)
    return floats(floats(latency_s) + floats(switch_s) + wire)


def copy_s(message_bytes: ArrayLike, latency_s: ArrayLike, rate: ArrayLike) -> Floats:
    """l_m: its fixed part and L / rate of global memory."""
    return floats(floats(latency_s) + floats(message_bytes) / floats(rate))
