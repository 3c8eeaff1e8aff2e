"""Reports: tables, lists and figures."""
