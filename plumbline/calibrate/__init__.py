"""Calibration: measures the models' figures of this machine."""
