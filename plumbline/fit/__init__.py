"""Fits: figures of a system with intervals, from records."""
