"""Verdicts on records, and hints for higher rates."""
