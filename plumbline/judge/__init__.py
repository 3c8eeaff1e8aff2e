"""Judging: verdicts on a record, and hints on what would raise it."""
