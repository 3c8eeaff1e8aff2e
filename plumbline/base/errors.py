"""Failures, each with a one-sentence message and an exit status."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from enum import IntEnum


class ExitStatus(IntEnum):
    """The exit statuses of the engine and ``plumb``."""

    PASSED = 0
    WRONG_ANSWER = 1
    BAD_USAGE = 2
    ERROR = 3
    SLOW = 4
    INTERRUPTED = 130


class PlumbError(Exception):
    """A failure with a message for the user; ``status`` is the command's exit status.

    An empty message was reported before.
    """

    status = ExitStatus.ERROR


class UsageError(PlumbError):
    """The request is invalid; nothing was started."""

    status = ExitStatus.BAD_USAGE


class RunError(PlumbError):
    """Something failed while running."""


class InterruptError(PlumbError):
    """The user (or a batch system, by SIGTERM) ended the command; nothing more is started."""

    status = ExitStatus.INTERRUPTED


def shortened(text: str) -> str:
    """``text`` shortened: words above 200 characters, the whole above 4,000."""
    words = re.sub(r"\S{201,}", lambda word: f"{word[0][:60]}… ({len(word[0])} characters)", text)
    return words if len(words) <= 4000 else f"{words[:2000]}… ({len(words)} characters)"


def reason_of(error: Exception) -> str:
    """Why a file cannot be read, without the system's error number and a second path."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not text"
    return getattr(error, "strerror", None) or str(error)


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """``"; did you mean X?"`` with the closest of ``choices``, or "" if none is close."""
    nearest = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.6)
    return f"; did you mean {nearest[0]}?" if nearest else ""
