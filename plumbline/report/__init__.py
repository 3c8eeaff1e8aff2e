"""Reports: tables, lists and pictures."""
