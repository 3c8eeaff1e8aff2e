"""Runs: planned, launched, judged, shown and kept."""
