"""Figures of records: what they show (``shapes.py``), what draws them (``svg.py``, ``tty.py``)."""
