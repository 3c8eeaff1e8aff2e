"""Models: what a system should take, benchmark by benchmark."""
