"""Launches: launchers, supervision, events and progress of one start of the engine."""
