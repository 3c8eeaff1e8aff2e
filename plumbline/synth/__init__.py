"""Bitstreams of boards: presets, generated sources, tools' command lines, manifests, reports."""
