"""Systems: what a system file says of a board or a machine."""
