"""The record of a run, its expectations, and the index of all records."""
