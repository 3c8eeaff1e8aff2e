"""The parts that every room uses: errors, paths, files, units, columns of text, TOML."""
