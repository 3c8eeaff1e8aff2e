"""Calibration: what the models need of this machine, measured."""
