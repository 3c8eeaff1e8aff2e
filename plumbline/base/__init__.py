"""Common modules of all packages: errors, paths, files, units, columns of text, TOML."""
