"""Systems: the figures of a board or a machine in a system file."""
