"""The engine's programs: their description, options, runtimes and text forms."""
