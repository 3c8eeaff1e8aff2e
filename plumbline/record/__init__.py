"""The record of a run, what was expected of it, and the index of all records."""
