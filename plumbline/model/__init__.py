"""Models: expected times of a system, by benchmark."""
